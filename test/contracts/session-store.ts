import assert from 'node:assert/strict'
import type { SessionStore } from 'framework'
import { pause } from '../support/kernel.ts'
import { type ContractOptions, contractOf, type Make, uniqueName } from './contract.ts'

/** An id as the plugin makes them, another one each time. */
const freshId = () => uniqueName('test').padEnd(32, 'x')

/** The id of data that were written within the second for which they are kept at first: a busy machine may need several tries. */
async function inTime(write: (id: string) => Promise<void>): Promise<string> {
  for (;;) {
    const [id, start] = [freshId(), performance.now()]
    await write(id)
    if (performance.now() - start < 900) return id
  }
}

/**
 * Tests a store of sessions that has `update`. Two tests wait for a second; all of them can run at the same time.
 *
 * @example
 * testSessionStore(() => new PostgresSessions(pool), { test: test.concurrent })
 */
export function testSessionStore(
  make: Make<SessionStore & Required<Pick<SessionStore, 'update'>>>,
  options: ContractOptions,
): void {
  const contract = contractOf('a session store', make, options)
  contract('an id that was never set has nothing', async (store) => {
    assert.equal((await store.get(freshId())) ?? undefined, undefined)
  })

  contract('returns the stored data, of every kind that JSON has', async (store) => {
    const id = freshId()
    const all = { text: 'ü"\u0000💛', n: -1.5, yes: true, nothing: null, list: [1, { a: [] }], object: { '': {} } }
    await store.set(id, all, 60)
    assert.deepEqual(await store.get(id), all)
    assert.deepEqual(await store.get(id), all)
  })

  contract('set replaces existing data', async (store) => {
    const id = freshId()
    await store.set(id, { a: 1, b: 1 }, 60)
    await store.set(id, { a: 2 }, 60)
    assert.deepEqual(await store.get(id), { a: 2 })
    await store.set(id, {}, 60)
    assert.deepEqual(await store.get(id), {})
  })

  contract('ids have nothing to do with each other', async (store) => {
    const [one, two] = [freshId(), freshId()]
    await store.set(one, { n: 1 }, 60)
    await store.set(two, { n: 2 }, 60)
    await store.destroy(one)
    assert.equal((await store.get(one)) ?? undefined, undefined)
    assert.deepEqual(await store.get(two), { n: 2 })
  })

  contract('update replaces existing data, and returns that', async (store) => {
    const id = freshId()
    await store.set(id, { a: 1, b: 1 }, 60)
    assert.equal(await store.update(id, { a: 2 }, 60), true)
    assert.deepEqual(await store.get(id), { a: 2 })
  })

  contract('update writes nothing where there is nothing', async (store) => {
    const id = freshId()
    assert.equal(await store.update(id, { a: 1 }, 60), false)
    assert.equal((await store.get(id)) ?? undefined, undefined)
  })

  contract('a destroyed session never exists again: neither update nor touch restores it', async (store) => {
    const id = freshId()
    await store.set(id, { user: 'ada' }, 60)
    assert.equal(await store.destroy(id), true)
    assert.equal(await store.update(id, { user: 'ada' }, 60), false)
    assert.equal((await store.touch?.(id, 60)) ?? false, false)
    assert.equal((await store.get(id)) ?? undefined, undefined)
  })

  contract('nor does an update that is under way when it is destroyed', async (store) => {
    const ids = Array.from({ length: 50 }, freshId)
    await Promise.all(ids.map((id) => store.set(id, { user: 'ada' }, 60)))
    const race = async (id: string) => {
      const updates = [1, 2, 3].map((n) => store.update(id, { user: 'ada', n }, 60))
      const end = store.destroy(id)
      updates.push(store.update(id, { user: 'ada', n: 4 }, 60))
      await Promise.all([...updates, end])
      return (await store.get(id)) ?? undefined
    }
    assert.deepEqual(
      await Promise.all(ids.map(race)),
      ids.map(() => undefined),
    )
  })

  contract(
    'destroy returns true to one of many callers, and to none afterwards; a missing one is not an error',
    async (store) => {
      const id = freshId()
      assert.equal(await store.destroy(id), false)
      const other = freshId()
      await store.set(other, { n: 1 }, 60)
      const reported = await Promise.all(Array.from({ length: 10 }, () => store.destroy(other)))
      assert.deepEqual(
        reported.filter((wasThere) => wasThere),
        [true],
      )
      assert.equal(await store.destroy(other), false)
    },
  )

  contract('passed and returned objects may be changed without changing the stored data', async (store) => {
    const id = freshId()
    const given = { user: { name: 'ada' } }
    await store.set(id, given, 60)
    given.user.name = 'eve'
    const got = (await store.get(id)) as unknown as typeof given
    assert.deepEqual(got, { user: { name: 'ada' } })
    got.user.name = 'eve'
    assert.deepEqual(await store.get(id), { user: { name: 'ada' } })
  })

  contract('keeps data for the given seconds, restarted each time', async (store) => {
    const [short, renewed, long] = [freshId(), freshId(), freshId()]
    await store.set(short, { n: 1 }, 1)
    await store.set(renewed, { n: 1 }, 1)
    await store.set(renewed, { n: 2 }, 60)
    const updated = await inTime(async (id) => {
      await store.set(id, { n: 1 }, 1)
      await store.update(id, { n: 2 }, 60)
    })
    await store.set(long, { n: 1 }, 86_400)
    await pause(1_100)
    assert.equal((await store.get(short)) ?? undefined, undefined)
    assert.equal(await store.update(short, { n: 2 }, 60), false)
    assert.equal(await store.destroy(short), false)
    assert.deepEqual(await store.get(renewed), { n: 2 })
    assert.deepEqual(await store.get(updated), { n: 2 })
    assert.deepEqual(await store.get(long), { n: 1 })
  })

  contract(
    'touch, or updating with the same data without it, restarts the seconds and keeps the data',
    async (store) => {
      const touch = async (id: string, seconds: number) => {
        if (store.touch !== undefined) return store.touch(id, seconds)
        const data = await store.get(id)
        if (data != null) await store.update(id, data, seconds)
      }
      const id = await inTime(async (id) => {
        await store.set(id, { n: 1 }, 1)
        await touch(id, 60)
      })
      const gone = freshId()
      await touch(gone, 60)
      await pause(1_100)
      assert.deepEqual(await store.get(id), { n: 1 })
      assert.equal((await store.get(gone)) ?? undefined, undefined)
    },
  )

  contract('100 at once', async (store) => {
    const ids = Array.from({ length: 100 }, freshId)
    await Promise.all(ids.map((id, n) => store.set(id, { n }, 60)))
    assert.deepEqual(
      await Promise.all(ids.map((id) => store.get(id))),
      ids.map((_id, n) => ({ n })),
    )
  })
}
