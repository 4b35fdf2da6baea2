import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { resultOf, runtimeKinds } from './targets.ts'

const expected = {
  storm: { miss: 1, others: 29 },
  hit: [201, 'HIT', 'application/json; charset=utf-8', '{"ü":1}', true],
  known: [304, 'HIT', 0],
  head: [201, 'HIT', 0],
  personal: 'BYPASS',
  bytes: [
    ['MISS', 'image/png', [0, 255]],
    ['HIT', 'image/png', [0, 255]],
  ],
  removed: [1, 1],
  again: ['MISS', 'MISS'],
  runs: 3,
  // Data of a body that the key does not include is never in another client's response, whether or not the runtime shows it.
  unpoisoned: Object.fromEntries(
    ['body', 'unread'].flatMap((path) =>
      ['json', 'chunked', 'form', 'empty'].map((kind) => [`${path} ${kind}`, 'none']),
    ),
  ),
  afterClose: true,
}

test.each(
  runtimeKinds.map((target) => [target.name, target] as const),
)('the cache in memory on %s', async (_name, target) => {
  expect(await resultOf(target, 'cache.mjs', [target.adapter ?? '', ''])).toEqual(expected)
})

describe.skipIf(!hasRedis)('the cache in Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const few = runtimeKinds.filter(({ name }) => ['node', 'bun', 'deno'].includes(name))
  test.each(few.map((target) => [target.name, target] as const))('on %s', async (_name, target) => {
    expect(await resultOf(target, 'cache.mjs', [target.adapter ?? '', redis.url])).toEqual(expected)
  })
})
