import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { killedEngines, killRounds } from '../../support/queue-kills.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

// Two hundred rounds for each engine; SEED repeats those that have failed.

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 30))

describe.skipIf(!hasRedis || !hasPostgres).each(killedEngines)('$kind', (engine) => {
  let server: OwnServer
  beforeAll(async () => {
    server = await (engine.kind === 'bullmq'
      ? startRedis('--appendfsync', 'always', '--maxmemory-policy', 'noeviction')
      : startPostgres())
  })
  afterAll(() => server.stop())

  test.each([...Array(8).keys()].map((i) => seed + i))('loses no accepted message, seed %i', async (own) => {
    const report = await killRounds(engine, server, own, 25)
    console.log(engine.kind, own, JSON.stringify(report))
    expect(report.handled).toBeGreaterThanOrEqual(report.accepted)
  })
})
