import assert from 'node:assert/strict'
import { gate, pause, until } from './context.mjs'

/** The time of a tick, which its id ends with. @param {string} id */
const timeOf = (id) => Date.parse(id.slice(id.indexOf(' ') + 1))

/** @type {readonly import('./context.mjs').Case[]} */
export const idCases = [
  {
    name: 'a message with the id of one that waits, is active, is delayed or has failed is not added again; it is free after success',
    needs: ['id'],
    async run(t) {
      const orders = await t.queue()
      /** @param {string} payload @param {object} [more] */
      const publish = (payload, more) => orders.publish(payload, { id: 'a:1', ...more })
      assert.deepEqual(await publish('waiting'), { id: 'a:1' })
      await publish('while waiting')
      await orders.publish('delayed', { id: 'c', delay: 60_000 })
      await orders.publish('while delayed', { id: 'c' })
      await t.counts(orders, { delayed: 1, waiting: 1 })
      const first = gate()
      /** @type {unknown[]} */
      const seen = []
      await orders.subscribe(async (/** @type {string} */ payload, /** @type {any} */ { id }) => {
        seen.push([payload, id])
        await first.opened
        if (payload === 'fails') throw new Error('no')
      })
      await until(() => seen.length === 1, 'the first')
      await publish('while active')
      await orders.publish('other', { id: 'b' })
      first.open()
      await until(() => seen.length === 2, 'the other')
      await t.counts(orders, { active: 0, waiting: 0 })
      await publish('fails', { attempts: 1 })
      await t.counts(orders, { failed: 1 })
      await publish('while failed')
      await orders.publish('last')
      await until(() => seen.length === 4, 'the last')
      assert.deepEqual(seen.slice(0, 3), [
        ['waiting', 'a:1'],
        ['other', 'b'],
        ['fails', 'a:1'],
      ])
      await t.counts(orders, { failed: 1, waiting: 0, active: 0, delayed: 1 })
    },
  },
  {
    name: 'an id with a ttl is taken for that time, also after success, then free',
    needs: ['id'],
    async run(t) {
      const orders = await t.queue()
      /** @type {unknown[]} */
      const seen = []
      await orders.subscribe((/** @type {unknown} */ payload) => void seen.push(payload))
      const options = { id: { value: 'once', ttl: 4000 } }
      await orders.publish(1, options)
      const start = performance.now()
      await until(() => seen.length === 1, 'the first')
      await t.counts(orders, { active: 0 })
      assert.deepEqual(await orders.publish(2, options), { id: 'once' })
      await orders.publish('between')
      await until(() => seen.includes('between'), 'the one between')
      await pause(4100 - (performance.now() - start))
      await orders.publish(3, options)
      await until(() => seen.length === 3, 'the third')
      assert.deepEqual(seen, [1, 'between', 3])
    },
  },
  {
    name: 'the ids of a batch are those that were chosen, each once',
    needs: ['id'],
    async run(t) {
      const orders = await t.queue()
      const ids = await orders.publishMany(['a', 'b', 'a'], (/** @type {string} */ id) => ({ id }))
      assert.deepEqual(ids, [{ id: 'a' }, { id: 'b' }, { id: 'a' }])
      await t.counts(orders, { waiting: 2 })
    },
  },
  {
    name: 'two servers with the same repetition publish each tick once, until both have ended it',
    needs: ['repeat'],
    async run(t) {
      const orders = await t.queue()
      const b = t.isShared ? await t.server() : undefined
      const both = b === undefined ? [orders] : [orders, orders.for(b)]
      /** @type {string[]} */
      const seen = []
      await orders.subscribe((/** @type {unknown} */ payload, /** @type {any} */ { id, queue }) => {
        assert.deepEqual([payload, queue], [{ tick: 1 }, orders.name])
        seen.push(id)
      })
      const repeat = { key: 'clock', every: 250 }
      for (const one of both) assert.deepEqual(await one.publish({ tick: 1 }, { repeat, attempts: 2 }), { id: 'clock' })
      // A process that is too busy leaves a tick out.
      await until(() => seen.length >= 5, 'five ticks')
      const times = seen.map(timeOf)
      assert.deepEqual(
        times.map((time) => time % 250),
        times.map(() => 0),
      )
      for (const one of both) assert.equal(await one.stopRepeat('clock'), true)
      for (const one of both) assert.equal(await one.stopRepeat('clock'), false)
      const end = Date.now()
      await pause(600)
      await t.counts(orders, { waiting: 0, active: 0 })
      assert.deepEqual(
        seen.filter((id) => timeOf(id) > end),
        [],
      )
      assert.equal(new Set(seen).size, seen.length)
    },
  },
  {
    name: 'a repetition with a pattern and a zone ends with its server',
    needs: ['repeat'],
    async run(t) {
      const orders = await t.queue({ timeout: 5000 })
      const c = t.isShared ? await t.server() : t.a
      const repeat = { key: 'second', pattern: '* * * * * *', tz: 'Asia/Kathmandu' }
      await assert.rejects(() => orders.publish(1, { repeat: { ...repeat, tz: 'Europe/Nowhere' } }))
      await assert.rejects(() => orders.publish(1, { repeat: { ...repeat, pattern: 'x' } }))
      await assert.rejects(() => orders.publish(1, { repeat: { ...repeat, every: 5 } }), { code: 'OptionError' })
      /** @type {string[]} */
      const seen = []
      await orders.subscribe((/** @type {unknown} */ _, /** @type {any} */ { id }) => void seen.push(id))
      await orders.for(c).publish(1, { repeat })
      await until(() => seen.length >= 2, 'two ticks')
      if (!t.isShared) return void (await orders.stopRepeat('second'))
      await c.close()
      const end = Date.now()
      await pause(1500)
      await t.counts(orders, { waiting: 0, active: 0 })
      assert.deepEqual(
        seen.filter((id) => timeOf(id) > end),
        [],
      )
    },
  },
]
