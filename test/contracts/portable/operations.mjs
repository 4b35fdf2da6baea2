import assert from 'node:assert/strict'
import { gate, pause, until } from './context.mjs'

/** @param {readonly any[]} list */
const payloads = (list) => list.map(({ payload }) => payload)

/** Lets messages fail. @param {import('./context.mjs').Context} t @param {any} orders @param {readonly unknown[]} all */
async function fail(t, orders, all) {
  /** @type {unknown[]} */
  const handled = []
  let isFailing = true
  await orders.subscribe((/** @type {any} */ payload) => {
    handled.push(payload)
    if (isFailing) throw new Error(`no ${payload?.n ?? payload}`)
  })
  for (const [i, one] of all.entries()) {
    await orders.publish(one, { attempts: 1 })
    await t.counts(orders, { failed: i + 1 })
  }
  handled.length = 0
  const recover = () => {
    isFailing = false
  }
  return { handled, recover }
}

/** @type {readonly import('./context.mjs').Case[]} */
export const operationCases = [
  {
    name: 'waiting messages are listed in the order in which they come, over pages, with priorities',
    needs: ['operations', 'priority'],
    async run(t) {
      const orders = await t.queue()
      // One after the other: Postgres has the messages of a batch in any order.
      for (const n of Array(7).keys()) await orders.publish(n)
      for (const priority of [12, 11, 10, 13]) await orders.publish(priority, { priority })
      const all = t.operator(orders)
      const order = [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13]
      assert.deepEqual(payloads(await all.list({ state: 'waiting' })), order)
      for (const limit of [1, 3, 4, 7, 20]) {
        /** @type {unknown[]} */
        const seen = []
        for (let from = 0; from < 11; from += limit)
          seen.push(...payloads(await all.list({ state: 'waiting', from, limit })))
        assert.deepEqual(seen, order, `pages of ${limit}`)
      }
      assert.deepEqual(await all.list({ state: 'failed' }), [])
      await assert.rejects(() => all.list({ state: 'gone' }), { code: 'OptionError' })
      assert.equal(await all.empty(), 11)
      await t.counts(orders, { waiting: 0 })
    },
  },
  {
    name: 'a message is shown with its state, its attempts and its times, and found by the id that publish returned',
    needs: ['operations', 'id'],
    async run(t) {
      const orders = await t.queue()
      const all = t.operator(orders)
      const begin = Date.now()
      const { id } = await orders.publish({ n: 1 }, { id: 'mine:1', attempts: 4, delay: 60_000, expireIn: 90_000 })
      const [delayed] = await all.list({ state: 'delayed' })
      const one = await all.find(id)
      assert.deepEqual(one, delayed)
      const { state, payload, attempt, attempts, key, version, errors } = delayed
      assert.deepEqual(
        { state, payload, attempt, attempts, key, version, errors },
        { state: 'delayed', payload: { n: 1 }, attempt: 0, attempts: 4, key: 'mine:1', version: 1, errors: [] },
      )
      for (const [time, after] of [
        [delayed.publishedAt, 0],
        [delayed.dueAt, 60_000],
        [delayed.expiresAt, 90_000],
      ])
        assert.ok(Math.abs(time - begin - after) < 20_000, `${time - begin} ${after}`)
      const plain = await orders.publish('plain')
      assert.equal((await all.find(plain.id)).payload, 'plain')
      assert.equal((await all.find(plain.id)).state, 'waiting')
      assert.equal(await all.find('nothing'), undefined)
      assert.equal(await all.remove({ ids: [id, plain.id, 'nothing'], by: 'ann' }), 2)
      assert.equal(await all.find(id), undefined)
      await orders.publish({ n: 2 }, { id: 'mine:1' })
      await t.counts(orders, { waiting: 1, delayed: 0 })
    },
  },
  {
    name: 'a message in progress is listed as active, and cannot be removed',
    needs: ['operations'],
    async run(t) {
      const orders = await t.queue()
      const end = gate()
      let begun = 0
      await orders.subscribe(async () => {
        begun++
        await end.opened
      })
      const { id } = await orders.publish('busy')
      await until(() => begun === 1, 'the handler')
      const all = t.operator(orders)
      assert.deepEqual(payloads(await all.list({ state: 'active' })), ['busy'])
      assert.equal(await all.remove({ ids: [id] }), 0)
      assert.equal(await all.empty({ states: ['waiting', 'delayed', 'failed', 'active'] }), 0)
      end.open()
      await t.counts(orders, { active: 0, failed: 0 })
      assert.equal(await all.find(id), undefined)
      assert.equal(await all.remove({ ids: [id] }), 0)
    },
  },
  {
    name: 'dead letters are alike: the payload, the attempts, the errors, the last one first; one, some or all get their attempts again',
    needs: ['operations'],
    async run(t) {
      const orders = await t.queue()
      const { handled, recover } = await fail(t, orders, [1, 2, 3, 4, 5])
      const all = t.operator(orders)
      const failed = await all.list()
      assert.deepEqual(payloads(failed), [5, 4, 3, 2, 1])
      for (const one of failed) {
        assert.deepEqual([one.state, one.attempt, one.attempts], ['failed', 1, 1])
        assert.match(one.errors.at(-1).message, new RegExp(`no ${one.payload}`))
      }
      assert.deepEqual(payloads(await all.list({ from: 1, limit: 2 })), [4, 3])
      recover()
      assert.equal(await all.retry({ ids: [failed[0].id, 'nothing'], by: 'ann' }), 1)
      await until(() => handled.length === 1, 'one')
      assert.equal(await all.retry({ where: (/** @type {any} */ { payload }) => payload % 2 === 0 }), 2)
      await until(() => handled.length === 3, 'some')
      await t.counts(orders, { failed: 2, waiting: 0, active: 0 })
      assert.equal(await all.remove({ where: (/** @type {any} */ { payload }) => payload === 1 }), 1)
      assert.equal(await all.retry(), 1)
      await until(() => handled.length === 4, 'all')
      await t.counts(orders, { failed: 0, waiting: 0, active: 0 })
      assert.deepEqual(handled, [5, ...handled.slice(1, 3), 3])
      assert.deepEqual(handled.slice(1, 3).toSorted(), [2, 4])
      assert.ok(
        t
          .about(orders.name)
          .some(({ message, fields }) => /1 message .*sent again/.test(message) && fields.by === 'ann'),
      )
    },
  },
  {
    name: 'a message that was sent again has all its attempts again, and fails again after them',
    needs: ['operations'],
    async run(t) {
      const orders = await t.queue()
      /** @type {number[]} */
      const attempts = []
      let dead = 0
      const handler = (/** @type {unknown} */ _, /** @type {any} */ { attempt }) => {
        attempts.push(attempt)
        throw new Error('no')
      }
      await orders.subscribe(handler, { onDead: () => void dead++ })
      await orders.publish('x', { attempts: 2, id: t.has('id') ? 'x' : undefined })
      await t.counts(orders, { failed: 1 })
      const [{ attempt, attempts: most }] = await t.operator(orders).list()
      assert.deepEqual([attempt, most], [2, 2])
      assert.equal(await t.operator(orders).retry(), 1)
      await until(() => dead === 2, 'the end')
      await t.counts(orders, { failed: 1, waiting: 0 })
      assert.deepEqual(attempts, [1, 2, 1, 2])
    },
  },
  {
    name: 'more messages than a page are changed, each once',
    needs: ['operations'],
    async run(t) {
      const orders = await t.queue()
      await orders.publishMany([...Array(1100).keys()])
      const all = t.operator(orders)
      assert.equal(await all.empty({ states: ['delayed'] }), 0)
      assert.equal(await all.empty({ by: 'ann' }), 1100)
      await t.counts(orders, { waiting: 0, delayed: 0 })
    },
  },
  {
    name: 'the age of the oldest message that is ready is known, and is that of the ready ones alone',
    needs: ['oldest'],
    async run(t) {
      const orders = await t.queue()
      assert.equal((await orders.counts()).oldest, 0)
      await orders.publish('later', { delay: 60_000 })
      assert.equal((await orders.counts()).oldest, 0)
      await orders.publish('now')
      await pause(300)
      await orders.publish('after', { priority: 1 })
      const { oldest } = await orders.counts()
      assert.ok(oldest >= 290 && oldest < 60_000, `${oldest}`)
      const counts = await t.operator(orders).counts()
      assert.deepEqual({ ...counts, oldest: 0 }, { waiting: 2, active: 0, delayed: 1, failed: 0, oldest: 0 })
    },
  },
  {
    name: 'known secrets in payloads are redacted for operators, and not for handlers',
    needs: ['operations'],
    async run(t) {
      const orders = await t.queue()
      const payload = { user: 'ann', password: 'hunter2', deep: [{ authorization: 'Bearer abc' }] }
      const { id } = await orders.publish(payload)
      const all = t.operator(orders)
      for (const one of [await all.find(id), (await all.list({ state: 'waiting' }))[0]]) {
        assert.equal(one.payload.user, 'ann')
        assert.doesNotMatch(JSON.stringify(one), /hunter2|Bearer abc/)
      }
      /** @type {unknown[]} */
      const seen = []
      await orders.subscribe((/** @type {unknown} */ one) => void seen.push(one))
      await until(() => seen.length === 1, 'the message')
      assert.deepEqual(seen, [payload])
    },
  },
  {
    name: 'failed messages of SQS are those of its dead letter queue; what it cannot do is refused with the remedy',
    needs: ['dead letter queue'],
    async run(t) {
      const orders = await t.queue({ most: 1 })
      const { handled, recover } = await fail(t, orders, [{ n: 1, password: 'hunter2' }, { n: 2 }])
      const all = t.operator(orders)
      const failed = await all.list()
      assert.deepEqual(failed.map((/** @type {any} */ { payload }) => payload.n).toSorted(), [1, 2])
      assert.doesNotMatch(JSON.stringify(failed), /hunter2/)
      assert.equal((await all.find(failed[0].id)).payload.n, failed[0].payload.n)
      recover()
      assert.equal(await all.retry({ where: (/** @type {any} */ { payload }) => payload.n === 1 }), 1)
      await until(() => handled.length === 1, 'the one')
      assert.equal(await all.remove(), 1)
      await t.counts(orders, { failed: 0 })
      for (const refused of [() => all.list({ state: 'waiting' }), () => all.pause(), () => all.empty()])
        await assert.rejects(refused, { code: 'QueueOperationError' })
    },
  },
]
