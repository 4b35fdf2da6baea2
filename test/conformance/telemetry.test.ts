import { expect, test } from 'vitest'
import { type PlacedSpan, treeOf } from '../support/spans.ts'
import { printedBy, targets } from './targets.ts'

interface Result {
  readonly body: unknown
  readonly spans: readonly PlacedSpan[]
  readonly seen: readonly string[]
  readonly said: readonly unknown[]
  readonly aborted: readonly unknown[]
}

const few = targets
  .filter(({ name }) => ['node', 'node26', 'bun', 'deno'].includes(name))
  .map((target) => [target.name, target] as const)

test.each(few)('one trace through a request, a queue and fetch on %s', async (_name, target) => {
  const { body, spans, seen, said, aborted } = (await printedBy(target, 'telemetry.mjs', [])) as Result
  expect(body).toBe(200)
  const [request, handler, ...others] = treeOf(spans)
  expect([request, handler]).toEqual(['GET /things/:id', '  handler /things/:id'])
  // The first attempt may begin before fetch.
  expect(others.sort()).toEqual(
    ['    GET', '    publish telemetry', '      process telemetry !', '      process telemetry'].sort(),
  )
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(['1'.repeat(32)]))
  expect(spans.find(({ name }) => name === 'GET /things/:id')!.parent).toBe('2'.repeat(16))
  expect(seen).toEqual([`00-${'1'.repeat(32)}-${spans.find(({ name }) => name === 'GET')!.id}-01`])
  expect(said).toEqual([
    ['here', '1'.repeat(32)],
    ['request', '1'.repeat(32)],
  ])
  // The type of the error and the status in the span, and the line of the log.
  expect(aborted).toEqual(['aborted', null, true])
})
