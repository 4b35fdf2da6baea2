import assert from 'node:assert/strict'
import { queue } from 'framework'
import { gate, pause, until } from './context.mjs'

/** Versions of one queue, as in the old and the new processes of a deployment. @param {import('./context.mjs').Context} t */
async function versions(t) {
  const name = await t.name('versions')
  const old = t.ofFirst(queue(name))
  const upgrade = (/** @type {any} */ { book }, /** @type {number} */ from) => ({ books: [book], from })
  return { old, current: t.ofFirst(queue(name, { version: 2, upgrade })) }
}

/** @type {readonly import('./context.mjs').Case[]} */
export const workerCases = [
  {
    name: 'a new worker upgrades messages of an earlier version, also those that it published itself before',
    async run(t) {
      const { old, current } = await versions(t)
      await old.publish(/** @type {any} */ ({ book: 1 }))
      await current.publish(/** @type {any} */ ({ books: [2, 3] }))
      /** @type {any[]} */
      const seen = []
      await current.subscribe((/** @type {any} */ payload) => void seen.push(payload))
      await until(() => seen.length === 2, 'both')
      seen.sort((a, b) => a.books[0] - b.books[0])
      assert.deepEqual(seen, [{ books: [1], from: 1 }, { books: [2, 3] }])
    },
  },
  {
    name: 'an old worker gives a newer message back without an attempt, handles its own, says so once, and a new worker gets it',
    async run(t) {
      const { old, current } = await versions(t)
      /** @type {any[]} */
      const seen = []
      const handler = (/** @type {any} */ payload) => void seen.push(['old', payload])
      const handle = await old.subscribe(handler, { concurrency: 2 })
      await current.publish(/** @type {any} */ ({ books: [1] }), { attempts: 2 })
      await pause(300)
      await old.publish(/** @type {any} */ ({ book: 2 }))
      await until(() => seen.length === 1, 'the old one')
      assert.deepEqual(seen, [['old', { book: 2 }]])
      await pause(1500)
      // Beside it, the new one would get the message by chance only.
      await handle.unsubscribe()
      await current.subscribe((/** @type {any} */ payload, /** @type {any} */ { attempt, attempts }) => {
        seen.push(['new', payload, attempt, attempts])
      })
      await until(() => seen.length === 2, 'the new one')
      assert.deepEqual(seen[1]?.slice(0, 2), ['new', { books: [1] }])
      // SQS counts what it hands out.
      if (t.has('attempts of its own')) assert.deepEqual(seen[1], ['new', { books: [1] }, 1, 2])
      const warnings = t.about(old.name).filter(({ level }) => level === 'warn')
      assert.deepEqual(
        warnings.map(({ message }) => /has the version 2, and this process knows 1/.test(message)),
        [true],
      )
      assert.deepEqual(
        t.about(old.name).filter(({ level }) => level === 'error'),
        [],
      )
    },
  },
  {
    name: 'a batch has at most size messages, and comes early if it is full, late if it is not',
    async run(t) {
      const orders = await t.queue()
      /** @type {number[][]} */
      const calls = []
      await orders.publishMany([...Array(10).keys()])
      // The full ones do not wait for it.
      const wait = 2500
      const start = performance.now()
      await orders.subscribeBatch(
        (/** @type {number[]} */ batch, /** @type {any[]} */ messages) => {
          assert.equal(batch.length, messages.length)
          assert.ok(messages.every(({ id, queue }) => typeof id === 'string' && queue === orders.name))
          calls.push(batch)
        },
        { size: 4, wait },
      )
      await until(() => calls.flat().length === 10, 'all')
      assert.deepEqual(calls.flat().toSorted(), [...Array(10).keys()])
      assert.ok(calls.every(({ length }) => length <= 4))
      if (t.has('order'))
        assert.deepEqual(
          calls.map(({ length }) => length),
          [4, 4, 2],
        )
      assert.ok(performance.now() - start >= wait - 10)
      await t.counts(orders, { waiting: 0, active: 0, failed: 0 })
    },
  },
  {
    name: 'a batch that fails has failed for each of its messages',
    async run(t) {
      const orders = await t.queue({ most: 2 })
      /** @type {[number[], number[]][]} */
      const calls = []
      await orders.subscribeBatch(
        async (/** @type {number[]} */ batch, /** @type {any[]} */ messages) => {
          calls.push([batch, messages.map(({ attempt }) => attempt)])
          if (messages.some(({ attempt }) => attempt === 1)) throw new Error('all of them')
        },
        // Long enough for all three: in a batch with a later one, the second attempt of an earlier one would fail too.
        { size: 3, wait: 20_000 },
      )
      await orders.publishMany([1, 2, 3], { attempts: 2 })
      await until(() => calls.flatMap(([batch]) => batch).length === 6, 'both attempts')
      await t.counts(orders, { waiting: 0, active: 0, delayed: 0, failed: 0 })
      const attempts = calls.flatMap(([batch, all]) => batch.map((one, i) => `${one} ${all[i]}`))
      assert.deepEqual(attempts.toSorted(), ['1 1', '1 2', '2 1', '2 2', '3 1', '3 2'])
    },
  },
  {
    name: 'as many batches are handled at once as concurrency says, full or not, and one that never ends gives its place back',
    async run(t) {
      const orders = await t.queue({ most: 1 })
      let [now, most, done] = [0, 0, 0]
      const handler = async (/** @type {any[]} */ batch) => {
        most = Math.max(most, ++now)
        await pause(150)
        now--
        done += batch.length
      }
      // No limit of time: on a busy machine, one that has reached it would give its place back.
      await orders.subscribeBatch(handler, { size: 10, wait: 20, concurrency: 1 })
      for (let i = 0; i < 8; i++) {
        await orders.publish(i)
        await pause(40)
      }
      await until(() => done === 8, 'all')
      assert.equal(most, 1)
      const endless = await t.queue({ most: 1 })
      const never = async (/** @type {any[]} */ batch) => {
        if (batch.includes('never')) return new Promise(() => {})
        done += batch.length
      }
      await endless.subscribeBatch(never, { size: 10, wait: 20, concurrency: 1, timeout: 3000 })
      await endless.publish('never')
      await t.counts(endless, { failed: 1 })
      await endless.publish('next')
      await until(() => done === 9, 'the next')
    },
  },
  {
    name: 'a paused queue gives messages to no process, and continues',
    needs: ['pause'],
    async run(t) {
      const orders = await t.queue()
      const b = t.isShared ? await t.server() : t.a
      /** @type {unknown[]} */
      const seen = []
      const begun = gate()
      for (const one of t.isShared ? [orders, orders.for(b)] : [orders])
        await one.subscribe(async (/** @type {unknown} */ payload) => {
          seen.push(payload)
          if (payload === 'first') await begun.opened
        })
      await orders.publish('first')
      await until(() => seen.length === 1, 'the first')
      assert.equal(await t.operator(orders).isPaused(), false)
      await t.operator(orders).pause({ by: 'ann' })
      assert.equal(await t.operator(orders, b).isPaused(), true)
      // Postgres is asked once a second.
      if (t.kind === 'pgboss') await pause(2000)
      await orders.publish('second')
      await orders.publish('third')
      begun.open()
      await t.counts(orders, { waiting: 2, active: 0 })
      await pause(500)
      assert.deepEqual(seen, ['first'])
      const listed = await t.operator(orders).list({ state: 'waiting' })
      assert.deepEqual(
        listed.map((/** @type {any} */ { payload }) => payload),
        ['second', 'third'],
      )
      await t.operator(orders, b).resume({ by: 'bob' })
      await until(() => seen.length === 3, 'the others')
      assert.equal(await t.operator(orders).isPaused(), false)
      const entries = t.about(orders.name).filter(({ fields }) => fields.by !== undefined)
      assert.deepEqual(
        entries.map(({ fields, message }) => [fields.by, /paused/.test(message)]),
        [
          ['ann', true],
          ['bob', false],
        ],
      )
    },
  },
]
