import assert from 'node:assert/strict'
import { gate, pause, until } from './context.mjs'

/** A handler that fails, with the times of its calls. @param {number} [fails] How often. */
function failing(fails = Number.POSITIVE_INFINITY) {
  /** @type {number[]} */
  const times = []
  const handler = () => {
    times.push(performance.now())
    if (times.length <= fails) throw new Error(`failed ${times.length}`)
  }
  const gaps = () => times.slice(1).map((time, i) => time - /** @type {number} */ (times[i]))
  return { times, handler, gaps }
}

/** @type {readonly import('./context.mjs').Case[]} */
export const attemptCases = [
  {
    name: 'a message has as many attempts as it was published with, then onDead is called once and it is parked',
    async run(t) {
      const orders = await t.queue({ most: 3 })
      const { times, handler } = failing()
      /** @type {unknown[]} */
      const dead = []
      await orders.subscribe(handler, {
        onDead: (/** @type {any} */ payload, /** @type {Error} */ error, /** @type {any} */ { attempt, attempts }) =>
          void dead.push([payload, error.message, attempt, attempts]),
      })
      await orders.publish({ n: 1 }, { attempts: 3 })
      await until(() => dead.length > 0, 'the last attempt')
      await t.counts(orders, { failed: 1, waiting: 0, active: 0, delayed: 0 })
      assert.equal(times.length, 3)
      assert.deepEqual(dead, [[{ n: 1 }, 'failed 3', 3, 3]])
    },
  },
  {
    name: 'a message has one attempt by default',
    needs: ['default attempts'],
    async run(t) {
      const orders = await t.queue()
      const { times, handler } = failing()
      /** @type {unknown[]} */
      const seen = []
      await orders.subscribe(handler, {
        onDead: (/** @type {any} */ _, /** @type {any} */ __, /** @type {any} */ m) => void seen.push(m.attempts),
      })
      await orders.publish(1)
      await until(() => seen.length > 0, 'the end')
      await t.counts(orders, { failed: 1 })
      assert.deepEqual([times.length, seen], [1, [1]])
    },
  },
  {
    name: 'a fixed backoff is the time between all attempts',
    async run(t) {
      const orders = await t.queue()
      const { times, handler, gaps } = failing(2)
      await orders.subscribe(handler)
      await orders.publish(1, { attempts: 3, backoff: t.ms(250) })
      await until(() => times.length === 3, 'three attempts')
      for (const gap of gaps()) assert.ok(gap >= t.ms(250) - 10, `${gap}`)
    },
  },
  {
    name: 'an exponential backoff doubles',
    async run(t) {
      const orders = await t.queue()
      const { times, handler, gaps } = failing(2)
      await orders.subscribe(handler)
      const delay = 1000
      await orders.publish(1, { attempts: 3, backoff: { type: 'exponential', delay } })
      await until(() => times.length === 3, 'three attempts')
      const [first = 0, second = 0] = gaps()
      assert.ok(first >= delay - 10, `the first: ${first}`)
      assert.ok(second >= delay * 2 - 10, `the second: ${second}`)
    },
  },
  {
    name: 'jitter makes the time between attempts shorter at random',
    async run(t) {
      const orders = await t.queue()
      const seen = new Set()
      let again = 0
      const handler = (/** @type {number} */ n) => {
        if (seen.has(n)) again += 1
        else {
          seen.add(n)
          throw new Error('once')
        }
      }
      await orders.subscribe(handler, { concurrency: 50 })
      // Of 100 times within a minute the shortest is 0.6 seconds, and that all are above a third of it happens once in 10 ** 17. The rest stay delayed.
      const backoff = { type: 'fixed', delay: 60_000, jitter: 1 }
      await orders.publishMany([...Array(100).keys()], { attempts: 2, backoff })
      await until(() => seen.size === 100 && again > 0, 'a second attempt')
      assert.ok(again < 100)
    },
  },
  {
    name: 'a message with a delay is delayed, and does not come early',
    async run(t) {
      const orders = await t.queue()
      const delay = t.ms(600)
      /** @type {number[]} */
      const seen = []
      await orders.subscribe(() => void seen.push(performance.now()))
      const start = performance.now()
      await orders.publish(1, { delay })
      // On a busy machine its time may be over before it was counted.
      await until(async () => (await orders.counts()).delayed === 1 || seen.length > 0, 'the delay')
      await until(() => seen.length === 1, 'the message')
      assert.ok(/** @type {number} */ (seen[0]) - start >= delay - 10)
    },
  },
  {
    name: 'lower priorities come first, those without one as 0',
    needs: ['priority'],
    async run(t) {
      const orders = await t.queue()
      for (const priority of [5, 1, 0, undefined, 1, 5])
        await orders.publish(priority ?? 'none', priority === undefined ? {} : { priority })
      /** @type {unknown[]} */
      const seen = []
      await orders.subscribe((/** @type {unknown} */ payload) => void seen.push(payload))
      await until(() => seen.length === 6, 'all')
      assert.deepEqual(seen, [0, 'none', 1, 1, 5, 5])
    },
  },
  {
    name: 'the options of the queue are those of its messages, unless publish has others',
    async run(t) {
      const orders = await t.queue({ attempts: 2, backoff: 0 })
      /** @type {unknown[]} */
      const tries = []
      const handler = (/** @type {string} */ payload) => {
        tries.push(payload)
        throw new Error('no')
      }
      await orders.subscribe(handler)
      await orders.publish('default')
      await t.counts(orders, { failed: 1 })
      await orders.publish('own', { attempts: 1 })
      await orders.publishMany(['many'], () => ({ attempts: 3 }))
      await t.counts(orders, { failed: 3 })
      /** @param {string} name */
      const of = (name) => tries.filter((one) => one === name).length
      assert.deepEqual(['default', 'own', 'many'].map(of), [2, 1, 3])
    },
  },
  {
    name: 'an attempt that reaches its timeout has failed: its signal aborts, its place is free, the log names it once, its result is ignored',
    async run(t) {
      const orders = await t.queue({ most: 2 })
      const late = gate()
      /** @type {string[]} */
      const seen = []
      const handler = async (/** @type {string} */ payload, /** @type {any} */ { attempt, signal }) => {
        seen.push(`${payload} ${attempt}`)
        if (payload !== 'hangs' || attempt > 1) return
        signal.addEventListener('abort', () => seen.push(`aborted: ${signal.reason.code}`))
        await late.opened
        throw new Error('too late')
      }
      await orders.subscribe(handler)
      await orders.publish('hangs', { attempts: 2, timeout: 300, backoff: t.ms(1000) })
      await until(() => seen.length === 1, 'the first')
      await orders.publish('next')
      await until(() => seen.length === 4, 'the next one and the second attempt')
      assert.deepEqual(seen.slice(0, 2), ['hangs 1', 'aborted: HandlerTimeoutError'])
      assert.deepEqual(seen.slice(2).toSorted(), ['hangs 2', 'next 1'])
      late.open()
      await pause(50)
      const entries = t.about(orders.name).filter(({ level }) => level === 'error')
      assert.deepEqual(
        entries.map(({ fields }) => [fields.queue, fields.attempt, fields.err.code]),
        [[orders.name, 1, 'HandlerTimeoutError']],
      )
      await t.counts(orders, { failed: 0, active: 0, waiting: 0, delayed: 0 })
    },
  },
  {
    name: 'handlers that never end leave room for others after their timeout, also on the last attempt',
    async run(t) {
      const orders = await t.queue({ most: 1 })
      let done = 0
      const handler = (/** @type {string} */ payload) => (payload === 'never' ? new Promise(() => {}) : void done++)
      await orders.subscribe(handler, { concurrency: 2 })
      await orders.publishMany(Array(4).fill('never'), { attempts: 1, timeout: 200 })
      await orders.publishMany(Array(20).fill('fine'))
      await until(() => done === 20, 'the others')
      await t.counts(orders, { failed: 4, waiting: 0, active: 0 })
    },
  },
  {
    name: 'a message that was not handled within expireIn is given up without reaching a handler',
    async run(t) {
      const orders = await t.queue()
      await orders.publish('old', { expireIn: 100, attempts: 3 })
      await orders.publish('new', { expireIn: 60_000 })
      await pause(200)
      /** @type {unknown[]} */
      const seen = []
      await orders.subscribe((/** @type {unknown} */ payload) => void seen.push(payload), {
        onDead: (/** @type {any} */ payload, /** @type {any} */ error) => void seen.push([payload, error.code]),
      })
      await until(() => seen.length === 2, 'both')
      await t.counts(orders, { failed: 1, waiting: 0, delayed: 0 })
      assert.deepEqual(seen.toSorted(), [['old', 'QueueExpiredError'], 'new'].toSorted())
    },
  },
  {
    name: 'an option that no engine has is refused, and so is an id beside repeat',
    async run(t) {
      const orders = await t.queue()
      const refused = { code: 'OptionError' }
      await assert.rejects(() => orders.publish(1, { atempts: 2 }), refused)
      const repeat = { key: 'x', every: 1000 }
      await assert.rejects(() => orders.publish(1, { repeat, id: 'y' }), refused)
      await assert.rejects(() => orders.publishMany([1], { repeat }), refused)
      for (const name of ['priority', 'id', 'repeat'].filter((one) => !t.has(one))) {
        const value = { priority: 1, id: 'x', repeat }[name]
        await assert.rejects(() => orders.publish(1, { [name]: value }), refused, name)
      }
      await t.counts(orders, { waiting: 0, delayed: 0 })
    },
  },
]
