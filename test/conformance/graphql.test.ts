import { describe, expect, test } from 'vitest'
import { resultOf, runtimeKinds, type Target } from './targets.ts'

const seenOn = (target: Target, jit = '') => resultOf(target, 'graphql.mjs', [target.adapter ?? '', jit])

const next = (tick: number) => `event: next\ndata: {"data":{"tick":${tick}}}\n\n`
const expected = {
  audits: 61,
  failed: [],
  masked: {
    errors: [
      {
        message: 'Internal server error',
        locations: [{ line: 1, column: 9 }],
        path: ['fails'],
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      },
    ],
    data: { hello: 'world', fails: null },
  },
  foreign: 400,
  polluted: [400, null],
  dear: [400, { code: 'COST_LIMIT_EXCEEDED', cost: 51, max: 50 }],
  stream: [200, 'text/event-stream; charset=utf-8', `${next(1)}${next(2)}${next(3)}event: complete\ndata: \n\n`],
  alive: true,
  cancelled: true,
  closed: [false, ['silence returned'], true],
  ended: true,
}

describe('GraphQL over a socket: every audit of the specification, and event streams', () => {
  test.each(runtimeKinds.map((target) => [target.name, target] as const))('on %s', async (_name, target) => {
    expect(await seenOn(target)).toEqual(expected)
  })

  test('compiled', async () => {
    expect(await seenOn(runtimeKinds[0]!, 'jit')).toEqual(expected)
  })
})
