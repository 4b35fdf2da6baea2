import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../support/own-server.ts'
import { bullmq, pgboss } from '../support/queue-engines.ts'
import { resultOf, targets } from './targets.ts'

// Node.js runs the same cases as tests of their own, in test/plugins/queues.
const runtimes = targets.filter(({ adapter, runtime }) => adapter === undefined && !runtime.startsWith('node'))

type Results = Record<string, { readonly count: number; readonly failures: readonly string[] }>

describe.skipIf(!bullmq.isThere || !pgboss.isThere)('queue(name)', () => {
  let servers: OwnServer[]
  const results = new Map<string, Promise<Results>>()
  beforeAll(async () => {
    servers = await Promise.all([bullmq.start(), pgboss.start()])
    const [redis, postgres] = servers.map(({ url }) => url) as [string, string]
    // All engines and runtimes side by side.
    for (const target of runtimes) {
      const configs = {
        ...{ memory: {}, own: {} },
        bullmq: bullmq.config(redis, { prefix: target.name }),
        pgboss: pgboss.config(postgres, { schema: `portable_${target.name}` }),
      }
      results.set(target.name, resultOf(target, 'portable-queue.mjs', [JSON.stringify(configs)]) as Promise<Results>)
    }
  })
  afterAll(async () => {
    await Promise.allSettled(results.values())
    await Promise.all(servers.map((server) => server.stop()))
  })

  const all = ['memory', 'own', 'bullmq', 'pgboss'].flatMap((kind) => runtimes.map(({ name }) => [kind, name] as const))
  test.concurrent.each(all)('%s keeps its promises on %s', async (kind, runtime) => {
    const { [kind]: result } = await results.get(runtime)!
    expect(result!.failures).toEqual([])
    expect(result!.count).toBeGreaterThan(20)
  })
})
