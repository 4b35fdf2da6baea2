import { type Context, definePlugin, RouteCollection, Server } from 'framework'
import { afterEach, expect, test, vi } from 'vitest'
import { bringHandover, makeKeptStores } from '../../cli/serve/handover.ts'
import type { News } from '../../cli/serve/protocol.ts'
import { MemoryStore } from '../../plugins/session/stores/memory.ts'
import { handover } from '../../plugins/shared/environment/handover.ts'
import { memoryLogger } from '../support/kernel.ts'
import { objectsIn } from '../support/sessions.ts'

const servers: Server[] = []
afterEach(async () => {
  vi.useRealTimers()
  Reflect.deleteProperty(globalThis, Symbol.for('framework.handover'))
  for (const server of servers.splice(0)) await server.close()
})

/** The messages of one version, as they arrive at the development server. */
function version(kept: ReturnType<typeof makeKeptStores>) {
  return bringHandover((news: News) => {
    if (news.framework === 'kept') kept.take(JSON.parse(JSON.stringify(news)))
  })
}

const open = (max = 10) =>
  objectsIn(new MemoryStore(max, undefined, (restore) => handover()?.open('session /sid', restore)))

test('the data of a store exists in the next version: changed, ended, expired and evicted sessions as they are', () => {
  vi.useFakeTimers({ now: 1_000_000 })
  const kept = makeKeptStores()
  version(kept)(kept.left())
  const first = open(4)
  for (const id of ['a', 'b', 'c', 'd']) first.set(id, { id }, id === 'd' ? 5 : 60)
  first.update('a', { id: 'changed' }, 60)
  first.destroy('b')
  vi.advanceTimersByTime(4_000)
  first.touch('c', 100)
  const restore = version(kept)
  const second = open(4)
  expect(second.get('a')).toBeUndefined()
  vi.advanceTimersByTime(2_000)
  restore(kept.left())
  expect(['a', 'b', 'c', 'd'].map((id) => second.get(id))).toEqual([
    { id: 'changed' },
    undefined,
    { id: 'c' },
    undefined,
  ])
  vi.advanceTimersByTime(60_000)
  expect([second.get('a'), second.get('c')]).toEqual([undefined, { id: 'c' }])
  // The one that has had to go does not come back either.
  for (const id of ['e', 'f', 'g', 'h']) second.set(id, { id }, 60)
  expect(Object.values(kept.left()).flatMap((all) => all.map(([id]) => id))).toEqual(['e', 'f', 'g', 'h'])
})

test('a session that has expired when it is handed over is dropped for good', () => {
  vi.useFakeTimers({ now: 1_000_000 })
  const kept = makeKeptStores()
  version(kept)(kept.left())
  open().set('a', {}, 5)
  vi.advanceTimersByTime(5_000)
  expect(kept.left()).toEqual({ 'session /sid': [] })
  // Nothing is left that a clock which is set back would show again.
  vi.setSystemTime(1_000_000)
  expect(kept.left()).toEqual({ 'session /sid': [] })
})

test('a store that is opened late receives its data, and stores of the same name stay separate', () => {
  const kept = makeKeptStores()
  version(kept)(kept.left())
  const [one, two] = [open(), open()]
  one.set('a', { of: 'one' }, 60)
  two.set('a', { of: 'two' }, 60)
  version(kept)(kept.left())
  expect([open().get('a'), open().get('a')]).toEqual([{ of: 'one' }, { of: 'two' }])
})

test('without a development server nothing is kept, and sessions of another scope or name are not mixed up', async () => {
  expect(handover()).toBeUndefined()
  const stores: string[] = []
  Object.assign(globalThis, {
    [Symbol.for('framework.handover')]: {
      open(store: string) {
        stores.push(store)
        return { set() {}, delete() {} }
      },
    },
  })
  const { session } = await import('framework/plugins')
  const secret = 'x'.repeat(32)
  const server = new Server({ router: new RouteCollection(), logger: memoryLogger(), plugins: { session: { secret } } })
  servers.push(server)
  const setup = (ctx: Context) => {
    ctx.register(session({ secret, name: 'staff' }))
    ctx.get('/', () => 'staff')
  }
  server.register(definePlugin({ name: 'admin', prefix: '/admin', setup })())
  await server.ready()
  expect(stores.sort()).toEqual(['session /admin/staff', 'session /sid'])
})
