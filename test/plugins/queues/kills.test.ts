import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { killedEngines, killRounds } from '../../support/queue-kills.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

// kills.long.test.ts has more rounds; SEED repeats those that have failed.

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const rounds = Number(process.env.ROUNDS ?? 10)

describe.skipIf(!hasRedis || !hasPostgres).each(killedEngines)('$kind', (engine) => {
  let server: OwnServer
  beforeAll(async () => {
    server = await (engine.kind === 'bullmq'
      ? startRedis('--appendfsync', 'always', '--maxmemory-policy', 'noeviction')
      : startPostgres())
  })
  afterAll(() => server.stop())

  test('loses no accepted message while publishers, workers and the server die and stop', async () => {
    const { accepted, handled } = await killRounds(engine, server, seed, rounds)
    expect(accepted).toBeGreaterThan(rounds)
    expect(handled).toBeGreaterThanOrEqual(accepted)
  })
})
