import assert from 'node:assert/strict'
import { RouteCollection, Server } from 'framework'
import type { HeldLock, LockStoreOption } from 'framework/plugins/locks'
import { memoryLogger, pause } from '../support/kernel.ts'
import { gate } from '../support/queues.ts'
import { type ContractOptions, contractOf, type Make, uniqueName } from './contract.ts'

/** The options of the contract of a store of locks. */
export interface LockStoreOptions extends ContractOptions {
  /** Whether two servers, as in two processes, have the same locks. Default true; false for `'memory'`. */
  readonly isShared?: boolean
}

/** Servers of an application, each as in a process of its own. */
async function open(make: Make<LockStoreOption>) {
  const servers: Server[] = []
  return {
    async server() {
      const server = new Server({
        ...{ gracefulShutdown: false, logger: memoryLogger(), router: new RouteCollection(), closeTimeout: 2_000 },
        plugins: { locks: { store: await make(), ttl: 20_000 } },
      })
      servers.push(server)
      await server.ready()
      return server.services.get('locks')
    },
    close: () => Promise.all(servers.map((server) => server.close())),
  }
}

/**
 * Tests a Redis, a Postgres or what speaks like them as the store of the plugin `locks`. The keys are new ones, so it need not be empty.
 *
 * @example
 * testLockStore(() => ({ redis: 'redis://127.0.0.1:6379' }), { test })
 */
export function testLockStore(make: Make<LockStoreOption>, options: LockStoreOptions): void {
  const { isShared = true } = options
  const contract = contractOf('a store of locks', () => open(make), options)
  const held = { code: 'LockHeldError', status: 423 }

  contract('one of many holds a lock, each with a higher fence than the last one', async ({ server }) => {
    const all = [await server(), isShared ? await server() : await server().then(() => undefined)]
    const stores = all.flatMap((store) => store ?? all[0]!)
    const key = uniqueName('many')
    let [now, most] = [0, 0]
    const fences: number[] = []
    const work = async ({ fence }: HeldLock) => {
      most = Math.max(most, ++now)
      fences.push(fence)
      await pause(5)
      now--
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => stores[i % 2]!.withLock(key, { wait: 20_000 }, work)))
    assert.equal(most, 1)
    assert.equal(fences.length, 20)
    assert.deepEqual(
      fences,
      [...new Set(fences)].sort((a, b) => a - b),
    )
  })

  contract('a held lock is refused to others, and free as soon as the work has ended or failed', async ({ server }) => {
    const one = await server()
    const other = isShared ? await server() : one
    const key = uniqueName('held')
    const [begun, end] = [gate(), gate()]
    const work = one.withLock(key, {}, () => {
      begun.open()
      return end.opened
    })
    await begun.opened
    await assert.rejects(
      other.withLock(key, {}, () => {}),
      held,
    )
    assert.equal(await other.withLock(`${key}-other`, {}, () => 'another key'), 'another key')
    end.open()
    await work
    const failing = () => Promise.reject(new Error('of the work'))
    await assert.rejects(other.withLock(key, {}, failing), /of the work/)
    assert.equal(await one.withLock(key, {}, () => 'free'), 'free')
  })

  contract('a lock is renewed for as long as its work runs', async ({ server }) => {
    const one = await server()
    const other = isShared ? await server() : one
    const key = uniqueName('long')
    const [begun, end] = [gate(), gate()]
    const work = one.withLock(key, { ttl: 3_000 }, async ({ signal }) => {
      begun.open()
      await end.opened
      return signal.aborted
    })
    await begun.opened
    await pause(3_500)
    await assert.rejects(
      other.withLock(key, {}, () => {}),
      held,
    )
    end.open()
    assert.equal(await work, false)
  })

  contract('who waits has the lock when it is free, and not later than its time', async ({ server }) => {
    const one = await server()
    const other = isShared ? await server() : one
    const key = uniqueName('wait')
    const [begun, end] = [gate(), gate()]
    const work = one.withLock(key, {}, () => {
      begun.open()
      return end.opened
    })
    await begun.opened
    const start = performance.now()
    await assert.rejects(
      other.withLock(key, { wait: 300 }, () => {}),
      held,
    )
    assert.ok(performance.now() - start >= 250)
    const waiting = other.withLock(key, { wait: 10_000 }, () => 'its turn')
    await pause(50)
    end.open()
    assert.equal(await waiting, 'its turn')
    await work
  })

  for (const name of ['a:b', '{x}', "' or 1=1 --", '名前', 'x'.repeat(500)])
    contract(`keys are only keys: ${JSON.stringify(name)}`, async ({ server }) => {
      const store = await server()
      const key = `${uniqueName('key')} ${name}`.slice(0, 500)
      await store.withLock(key, {}, async () => {
        await assert.rejects(
          store.withLock(key, {}, () => {}),
          held,
        )
      })
      assert.equal(await store.withLock(key, {}, () => 'free'), 'free')
    })
}
