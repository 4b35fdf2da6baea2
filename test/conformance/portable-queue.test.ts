import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../support/long.ts'
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
    for (const [i, target] of runtimes.entries()) {
      const configs = {
        ...{ memory: {}, own: {} },
        bullmq: bullmq.config(redis, { prefix: target.name }),
        pgboss: pgboss.config(postgres, { schema: `portable_${target.name}` }),
      }
      // Of the cases with a service, each runtime has every second one: queues.test.ts has all services on all runtimes.
      const share = JSON.stringify(isLong ? [0, 1] : [i, runtimes.length])
      const args = [JSON.stringify(configs), share]
      results.set(target.name, resultOf(target, 'portable-queue.mjs', args) as Promise<Results>)
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
    const isWhole = isLong || kind === 'memory' || kind === 'own'
    expect(result!.count).toBeGreaterThan(isWhole ? 25 : 12)
  })
})
