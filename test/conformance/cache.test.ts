import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { commandOf, type Target, targets } from './targets.ts'

const run = promisify(execFile)

async function seenOn(target: Target, redis = ''): Promise<unknown> {
  const [command, ...args] = commandOf(target)
  const script = join(import.meta.dirname, 'cache.mjs')
  const options = { cwd: join(import.meta.dirname, '../..'), env: { ...process.env, NODE_OPTIONS: '' } }
  const { stdout } = await run(command!, [...args, script, target.adapter ?? '', redis], options)
  return JSON.parse(stdout)
}

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
  afterClose: true,
}

test.each(targets.map((target) => [target.name, target] as const))(
  'the cache in memory on %s',
  async (_name, target) => {
    expect(await seenOn(target)).toEqual(expected)
  },
  30_000,
)

describe.skipIf(!hasRedis)('the cache in Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const few = targets.filter(({ name }) => ['node', 'bun', 'deno'].includes(name))
  test.each(few.map((target) => [target.name, target] as const))(
    'on %s',
    async (_name, target) => {
      expect(await seenOn(target, redis.url)).toEqual(expected)
    },
    30_000,
  )
})
