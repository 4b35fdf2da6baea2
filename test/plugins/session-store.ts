import type { SessionStore } from 'framework'
import { describe, expect, test } from 'vitest'
import { pause } from '../support/kernel.ts'

let count = 0
/** An id as the plugin makes them, another one each time. */
const freshId = () => `test-${++count}-`.padEnd(32, 'x')

/** What every store of sessions must do; run against each of them. */
export function describeStore(name: string, makeStore: () => SessionStore): void {
  describe(`the contract of a session store: ${name}`, () => {
    test('an id that was never set has nothing', async () => {
      expect((await makeStore().get(freshId())) ?? undefined).toBeUndefined()
    })

    test('gives back what was set, of every kind that JSON has', async () => {
      const store = makeStore()
      const id = freshId()
      const all = { text: 'ü"\u0000💛', n: -1.5, yes: true, nothing: null, list: [1, { a: [] }], object: { '': {} } }
      await store.set(id, all, 60)
      expect(await store.get(id)).toEqual(all)
      expect(await store.get(id)).toEqual(all)
    })

    test('set takes the place of what is there', async () => {
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

    test('destroy of what is not there is fine', async () => {
      const store = makeStore()
      const id = freshId()
      await store.destroy(id)
      await store.destroy(id)
    })

    test('what was handed in or out may be changed without changing what is kept', async () => {
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

    test('keeps for as many seconds as it was told, each time anew', async () => {
      const store = makeStore()
      const [short, renewed, long] = [freshId(), freshId(), freshId()]
      await store.set(short, { n: 1 }, 1)
      await store.set(renewed, { n: 1 }, 1)
      await store.set(renewed, { n: 2 }, 60)
      await store.set(long, { n: 1 }, 86_400)
      await pause(1_100)
      expect((await store.get(short)) ?? undefined).toBeUndefined()
      expect(await store.get(renewed)).toEqual({ n: 2 })
      expect(await store.get(long)).toEqual({ n: 1 })
    })

    test('touch, or setting the same again where there is none, begins the seconds anew and leaves the data alone', async () => {
      const store = makeStore()
      const touch = async (id: string, seconds: number) => {
        if (store.touch !== undefined) return store.touch(id, seconds)
        const data = await store.get(id)
        if (data != null) await store.set(id, data, seconds)
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
