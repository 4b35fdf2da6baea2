import { expect, test } from 'vitest'
import { resultOf, runtimeKinds } from './targets.ts'

test.each(
  runtimeKinds.map((target) => [target.name, target] as const),
)('channels over websockets and server-sent events, and back again, on %s', async (_name, target) => {
  expect(await resultOf(target, 'channels.mjs', [target.adapter ?? ''], { timeout: 100_000 })).toEqual({
    type: 'text/event-stream; charset=utf-8',
    before: ['one', 'two'],
    hasLeft: true,
    missed: ['three'],
    socket: [
      ['channel:joined', ''],
      ['channel:message', 'one'],
      ['channel:published', ''],
    ],
    isGivenUp: true,
    isEmpty: true,
  })
})
