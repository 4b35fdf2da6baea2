import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { resultOf, runtimeKinds } from './targets.ts'

describe.skipIf(!hasRedis || !hasPostgres)('locks and data, against real servers', () => {
  let servers: OwnServer[]
  beforeAll(async () => {
    servers = await Promise.all([startRedis(), startPostgres()])
  })
  afterAll(() => Promise.all(servers.map((server) => server.stop())))

  // Which server answers requests does not matter here.
  test.each(
    runtimeKinds.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const),
  )('on %s', async (name, target) => {
    const locks = { most: 1, count: 5, rise: true, refused: 423 }
    const data = { results: [1, 1, 1], text: 'ü🎈', removed: [true, false], runs: 2 }
    expect(await resultOf(target, 'locks.mjs', [`${name}${process.pid}`, ...servers.map(({ url }) => url)])).toEqual({
      ...{ memory: locks, redis: locks, postgres: locks },
      ...{ 'data in memory': data, 'data in redis': data },
    })
  })
})
