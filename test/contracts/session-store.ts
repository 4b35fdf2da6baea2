import { describe, expect, test } from 'vitest'
import type { ExactStore, TextStore } from '../../plugins/session/stores/contract.ts'
import { pause } from '../support/kernel.ts'

let count = 0
/** An id as the plugin makes them, another one each time. */
const freshId = () => `test-${++count}-`.padEnd(32, 'x')

/** A store of texts as one of objects. */
export function objectsIn<Store extends TextStore>(store: Store) {
  type Found = Awaited<ReturnType<Store['get']>>
  const parsed = (text: string | undefined | null) => (text == null ? undefined : (JSON.parse(text) as object))
  return {
    get(id: string) {
      const found = store.get(id)
      return (found instanceof Promise ? found.then(parsed) : parsed(found as Found)) as
        | object
        | undefined
        | Promise<object | undefined>
    },
    set: (id: string, data: object, ttl: number) => store.set(id, JSON.stringify(data), ttl),
    update: (id: string, data: object, ttl: number) => store.update(id, JSON.stringify(data), ttl),
    destroy: (id: string) => store.destroy(id),
    touch: (id: string, ttl: number) => store.touch!(id, ttl),
  }
}

/** What every store of sessions must do; run against each of them. */
export function describeStore(name: string, makeStore: () => ExactStore): void {
  describe.concurrent(`the contract of a session store: ${name}`, () => {
    test('an id that was never set has nothing', async () => {
      expect((await makeStore().get(freshId())) ?? undefined).toBeUndefined()
    })

    test('returns the stored data, of every kind that JSON has', async () => {
      const store = makeStore()
      const id = freshId()
      const all = { text: 'ü"\u0000💛', n: -1.5, yes: true, nothing: null, list: [1, { a: [] }], object: { '': {} } }
      await store.set(id, all, 60)
      expect(await store.get(id)).toEqual(all)
      expect(await store.get(id)).toEqual(all)
    })

    test('set replaces existing data', async () => {
      const store = makeStore()
      const id = freshId()
      await store.set(id, { a: 1, b: 1 }, 60)
      await store.set(id, { a: 2 }, 60)
      expect(await store.get(id)).toEqual({ a: 2 })
      await store.set(id, {}, 60)
      expect(await store.get(id)).toEqual({})
    })

    test('ids have nothing to do with each other', async () => {
      const store = makeStore()
      const [one, two] = [freshId(), freshId()]
      await store.set(one, { n: 1 }, 60)
      await store.set(two, { n: 2 }, 60)
      await store.destroy(one)
      expect((await store.get(one)) ?? undefined).toBeUndefined()
      expect(await store.get(two)).toEqual({ n: 2 })
    })

    test('update replaces existing data, and returns that', async () => {
      const store = makeStore()
      const id = freshId()
      await store.set(id, { a: 1, b: 1 }, 60)
      expect(await store.update(id, { a: 2 }, 60)).toBe(true)
      expect(await store.get(id)).toEqual({ a: 2 })
    })

    test('update writes nothing where there is nothing', async () => {
      const store = makeStore()
      const id = freshId()
      expect(await store.update(id, { a: 1 }, 60)).toBe(false)
      expect((await store.get(id)) ?? undefined).toBeUndefined()
    })

    test('a destroyed session never exists again: neither update nor touch restores it', async () => {
      const store = makeStore()
      const id = freshId()
      await store.set(id, { user: 'ada' }, 60)
      expect(await store.destroy(id)).toBe(true)
      expect(await store.update(id, { user: 'ada' }, 60)).toBe(false)
      expect((await store.touch?.(id, 60)) ?? false).toBe(false)
      expect((await store.get(id)) ?? undefined).toBeUndefined()
    })

    test('nor does an update that is under way when it is destroyed', async () => {
      const store = makeStore()
      const ids = Array.from({ length: 50 }, freshId)
      await Promise.all(ids.map((id) => store.set(id, { user: 'ada' }, 60)))
      const race = async (id: string) => {
        const updates = [1, 2, 3].map((n) => store.update(id, { user: 'ada', n }, 60))
        const end = store.destroy(id)
        updates.push(store.update(id, { user: 'ada', n: 4 }, 60))
        await Promise.all([...updates, end])
        return (await store.get(id)) ?? undefined
      }
      expect(await Promise.all(ids.map(race))).toEqual(ids.map(() => undefined))
    })

    test('destroy returns true to one of many callers, and to none afterwards; a missing one is not an error', async () => {
      const store = makeStore()
      const id = freshId()
      expect(await store.destroy(id)).toBe(false)
      const other = freshId()
      await store.set(other, { n: 1 }, 60)
      const reported = await Promise.all(Array.from({ length: 10 }, () => store.destroy(other)))
      expect(reported.filter((wasThere) => wasThere)).toEqual([true])
      expect(await store.destroy(other)).toBe(false)
    })

    test('passed and returned objects may be changed without changing the stored data', async () => {
      const store = makeStore()
      const id = freshId()
      const given = { user: { name: 'ada' } }
      await store.set(id, given, 60)
      given.user.name = 'eve'
      const got = (await store.get(id)) as unknown as typeof given
      expect(got).toEqual({ user: { name: 'ada' } })
      got.user.name = 'eve'
      expect(await store.get(id)).toEqual({ user: { name: 'ada' } })
    })

    test('keeps data for the given seconds, restarted each time', async () => {
      const store = makeStore()
      const [short, renewed, updated, long] = [freshId(), freshId(), freshId(), freshId()]
      await store.set(short, { n: 1 }, 1)
      await store.set(renewed, { n: 1 }, 1)
      await store.set(renewed, { n: 2 }, 60)
      await store.set(updated, { n: 1 }, 1)
      await store.update(updated, { n: 2 }, 60)
      await store.set(long, { n: 1 }, 86_400)
      await pause(1_100)
      expect((await store.get(short)) ?? undefined).toBeUndefined()
      expect(await store.update(short, { n: 2 }, 60)).toBe(false)
      expect(await store.destroy(short)).toBe(false)
      expect(await store.get(renewed)).toEqual({ n: 2 })
      expect(await store.get(updated)).toEqual({ n: 2 })
      expect(await store.get(long)).toEqual({ n: 1 })
    })

    test('touch, or updating with the same data without it, restarts the seconds and keeps the data', async () => {
      const store = makeStore()
      const touch = async (id: string, seconds: number) => {
        if (store.touch !== undefined) return store.touch(id, seconds)
        const data = await store.get(id)
        if (data != null) await store.update(id, data, seconds)
      }
      const [id, gone] = [freshId(), freshId()]
      await store.set(id, { n: 1 }, 1)
      await touch(id, 60)
      await touch(gone, 60)
      await pause(1_100)
      expect(await store.get(id)).toEqual({ n: 1 })
      expect((await store.get(gone)) ?? undefined).toBeUndefined()
    })

    test('100 at once', async () => {
      const store = makeStore()
      const ids = Array.from({ length: 100 }, freshId)
      await Promise.all(ids.map((id, n) => store.set(id, { n }, 60)))
      expect(await Promise.all(ids.map((id) => store.get(id)))).toEqual(ids.map((_id, n) => ({ n })))
    })
  })
}
