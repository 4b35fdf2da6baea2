import { expect, test } from 'vitest'
import { targets } from './targets.ts'
import { endedBySigterm } from './websocket-ending.ts'

// Where the runtime or its own server makes the difference.
const few = targets.filter(({ name }) => ['node', 'bun', 'deno'].includes(name))

test.each(
  few,
)('SIGTERM closes each of 1000 websockets with 1001, and the process ends in time: $name', async (target) => {
  const { codes, code, isInTime } = await endedBySigterm(target, 1000, 5000)
  expect([new Set(codes), code, isInTime]).toEqual([new Set([1001]), 0, true])
})
