import { expect, test } from 'vitest'
import { resultOf, runtimeKinds, type Target } from './targets.ts'

interface Answer {
  readonly status: number
  readonly type: string
  readonly cache: string
  readonly size: number
  readonly location: string | null
}

const seenOn = async (target: Target) =>
  (await resultOf(target, 'openapi.mjs', [target.adapter ?? ''])) as Record<string, Answer> & { files: Answer[] }

let first: object | undefined

test.each(
  runtimeKinds.map((target) => [target.name, target] as const),
)('the description and its page on %s, byte by byte as everywhere', async (_name, target) => {
  const seen = await seenOn(target)
  expect(seen).toMatchObject({
    json: { status: 200, type: 'application/json; charset=utf-8', cache: 'no-cache' },
    known: [304, 0],
    yaml: { status: 200, type: 'application/yaml; charset=utf-8' },
    page: { status: 200, type: 'text/html; charset=utf-8' },
    slashed: { status: 308, location: '../docs' },
    head: { status: 200, size: 0 },
    missing: 404,
  })
  expect(seen.files).toHaveLength(2)
  for (const file of seen.files) expect([file.status, file.cache]).toEqual([200, 'public, max-age=31536000, immutable'])
  first ??= seen
  expect(seen).toEqual(first)
})
