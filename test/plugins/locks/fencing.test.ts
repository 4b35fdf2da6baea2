import { describe, test } from 'vitest'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { contest } from './fencing/contest.ts'

// fencing/run.ts has as many as wanted.
const [rounds, processes] = [5, 3]

describe.concurrent('of processes that are killed and stopped, no two write as the holder of one lock', () => {
  test.for([
    ['redis', hasRedis, startRedis],
    ['postgres', hasPostgres, startPostgres],
  ] as const)('%s', async ([store, isThere, start], { skip, expect: expects }) => {
    if (!isThere) skip()
    const server = await start()
    try {
      const seed = Math.floor(Math.random() * 1e9)
      const seen = await contest({ [store]: server.url }, seed, rounds, processes)
      expects(seen.violations, `the seed was ${seed}`).toEqual([])
      expects(seen.acquired).toBeGreaterThan(rounds)
    } finally {
      await server.stop()
    }
  })
})
