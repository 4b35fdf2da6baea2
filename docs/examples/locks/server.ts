import { HttpError, type LocksOptions, Server } from 'framework'
import type { Shelf } from './stock.ts'

export function makeServer(shelf: Shelf, store: LocksOptions['store'] = 'memory') {
  const server = new Server({ port: 0, plugins: { locks: { store }, cache: true } })
  const { locks, cache } = { locks: server.services.get('locks'), cache: server.services.get('cache') }

  // Reads, thinks and writes: two of these at once would sell the last one twice.
  server.post('/sell', () =>
    locks.withLock('shelf', { wait: 2_000 }, async ({ signal, fence }) => {
      const left = shelf.count - 1
      if (left < 0) throw new HttpError(409, { message: 'The shelf is empty' })
      await new Promise((resolve) => setTimeout(resolve, 10))
      // Another process may have the lock by now. If this one does not know yet, the shelf does.
      signal.throwIfAborted()
      if (!(await shelf.set(left, fence))) throw new HttpError(409, { message: 'Someone else was faster' })
      await cache.delete('left')
      return { left }
    }),
  )

  server.get('/left', () => cache.getOrSet('left', { ttl: 60, stale: 600 }, async () => ({ left: shelf.count })))
  return server
}
