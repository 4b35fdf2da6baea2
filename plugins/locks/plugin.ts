import { definePlugin } from '../../kernel/index.ts'
import { figure } from '../shared/development/metrics.ts'
import { refuseSeveral } from '../shared/environment/several-workers.ts'
import { memoryLocks } from '../shared/locks/memory.ts'
import { openLocks } from '../shared/locks/open.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import { locksOptions } from './options.ts'
import { LockService, type LockTrace, outcomeOf } from './service.ts'

const work: readonly WorkKind[] = [
  workKind<LockTrace>({
    channel: 'lock',
    list: { id: 'locks', title: 'Locks' },
    help: 'Work under a lock, with the time that it waited for it',
    span: () => 'lock',
    title: ({ key }) => key,
    note: (event) => outcomeOf(event),
    data: ({ key, waited, fence }) => ({ key, waited, fence }),
    attributes: ({ key }) => ({ 'framework.lock.key': key }),
    ended: (event) => ({ 'framework.lock.fence': event.fence, 'framework.lock.outcome': outcomeOf(event) }),
    measures: [
      {
        name: 'lock_wait_seconds',
        type: 'histogram',
        help: 'How long work waited for its lock',
        unit: 'seconds',
        of: ({ waited }) => (waited === undefined ? undefined : waited / 1_000),
      },
    ],
  }),
]

/**
 * Locks for work that only one at a time may do, in one process or, with a store in Redis or Postgres, in all processes of an application.
 *
 * @example
 * const server = new Server({ plugins: { locks: { store: { postgres: 'postgres://db.internal/shop' } } } })
 * server.post('/import', () => server.services.get('locks').withLock('import', {}, async ({ fence }) => ({ fence })))
 */
export const locks = definePlugin({
  name: 'locks',
  access: false,
  options: locksOptions,
  work,
  metrics(services) {
    const { held, waiting, counts } = services.get('locks')
    const ended = Object.entries(counts).map(([outcome, value]) => ({ value, labels: { outcome } }))
    const sum = [...waiting.values()].reduce((all, one) => all + one, 0)
    return [
      figure('gauge', 'locks_held', 'Locks that this process holds', held.length),
      figure('gauge', 'locks_waiting', 'Callers of this process that wait for a lock', sum),
      figure('counter', 'lock_outcomes', 'Work under a lock, by how it ended', ended),
    ]
  },
  health: {
    locks: {
      check: (services) => services.get('locks').check(),
      remedy: 'Start its Redis or Postgres, or correct locks.store',
    },
  },
  memory: { store: 'memory' },
  inspector: () => [
    {
      title: 'Locks of this process',
      columns: ['Key', 'Held since', 'Fence', 'Waiting here'],
      rows(services) {
        const { held, waiting } = services.get('locks')
        const rows = held.map(({ key, since, fence }) => [key, since, fence, waiting.get(key) ?? 0])
        const elsewhere = [...waiting].filter(([key]) => !held.some((one) => one.key === key))
        return [...rows, ...elsewhere.map(([key, count]) => [key, undefined, undefined, count])]
      },
    },
  ],
  doctor: async () => (await import('./doctor.ts')).checks,
  provide: ({ ttl }) => ({ locks: new LockService(ttl) }),
  async setup(ctx, { store }) {
    if (store === 'memory') {
      // Each process would have locks of its own.
      refuseSeveral(ctx.server.worker, 'locks are kept', 'Set locks.store to { redis } or { postgres }')
    }
    const service = ctx.services.get('locks')
    const locks = store === 'memory' ? memoryLocks() : await openLocks(store, 'the locks plugin (store')
    announceBackend(ctx.server, 'locks', locks)
    service.open(locks, ctx.log)
    ctx.onDrain(() => service.idle())
    ctx.onClose((timeLeft) => service.close(timeLeft))
  },
})
