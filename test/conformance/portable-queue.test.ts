import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { resultOf, targets } from './targets.ts'

// Node.js runs the same cases as tests of their own, in test/plugins/queues.
const runtimes = targets.filter(({ adapter, runtime }) => adapter === undefined && !runtime.startsWith('node'))

describe.skipIf(!hasRedis || !hasPostgres)('queue(name)', () => {
  let servers: OwnServer[]
  beforeAll(async () => {
    servers = await Promise.all([startRedis('--maxmemory-policy', 'noeviction'), startPostgres()])
  })
  afterAll(() => Promise.all(servers.map((server) => server.stop())))

  const all = ['memory', 'own', 'bullmq', 'pgboss'].flatMap((kind) =>
    runtimes.map((target) => [kind, target.name, target] as const),
  )
  test.each(all)('%s keeps its promises on %s', async (kind, name, target) => {
    const [redis, postgres] = servers.map(({ url }) => url)
    const configs: Record<string, object> = {
      bullmq: { bullmq: { connection: redis, prefix: name } },
      pgboss: { pgboss: { connectionString: postgres, schema: `portable_${name}`, pollInterval: 100 } },
    }
    const { count, failures } = (await resultOf(target, 'portable-queue.mjs', [
      kind,
      JSON.stringify(configs[kind] ?? {}),
    ])) as {
      count: number
      failures: string[]
    }
    expect(failures).toEqual([])
    expect(count).toBeGreaterThan(20)
  })
})
