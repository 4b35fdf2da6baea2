import { CronService, cron, Mailer, type MailMessage, MqttService, memoryQueue, mqtt } from 'framework'
import { clock } from 'framework/kernel'
import type { QueueHandler, SubscribeOptions } from 'framework/plugins/queues'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'
import { freshName } from '../../support/queues.ts'

const start = Date.UTC(2026, 2, 28)
const minute = 60_000

let time: TestClock
beforeEach(() => {
  time = testClock(start)
})
const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
  time.restore()
})

/** Milliseconds since the start of the test. */
const now = () => clock.now() - start

async function subscribed(handler: QueueHandler<number>, options?: SubscribeOptions<number>) {
  const queue = memoryQueue<number>(freshName('clock'))
  const handle = await queue.subscribe(handler, options)
  stop.push(() => handle.unsubscribe())
  return queue
}

test('a delayed message comes at its time', async () => {
  const seen: [number, number][] = []
  const queue = await subscribed((payload) => void seen.push([payload, now()]))
  await queue.publish(1, { delay: 60 * minute })
  await queue.publish(2, { delay: 1 })
  await time.advance('59 min')
  expect([seen, (await queue.counts()).delayed]).toEqual([[[2, 1]], 1])
  await time.advance('1 day')
  expect(seen).toEqual([
    [2, 1],
    [1, 60 * minute],
  ])
})

test('attempts are as far apart as the backoff says', async () => {
  const seen: number[] = []
  const queue = await subscribed(() => {
    seen.push(now())
    throw new Error('no')
  })
  await queue.publish(1, { attempts: 4, backoff: { type: 'exponential', delay: minute } })
  await time.advance('1 hour')
  expect(seen).toEqual([0, minute, 3 * minute, 7 * minute])
  expect(queue.dead).toMatchObject([{ attempts: 4 }])
})

test('the time limit of a handler', async () => {
  const ended: unknown[] = []
  const queue = await subscribed((_payload, { signal }) => clock.sleep(60 * minute, signal), {
    timeout: 5 * minute,
    onDead: (_payload, error) => void ended.push([now(), error.message]),
  })
  await queue.publish(1)
  await time.advance('4 min')
  expect((await queue.counts()).active).toBe(1)
  await time.advance('1 hour')
  expect(ended).toEqual([[5 * minute, expect.stringContaining('has not finished within 300000 ms')]])
})

test('the oldest message is as old as the clock says', async () => {
  const queue = memoryQueue<number>(freshName('clock'))
  await queue.publish(1)
  await time.advance('2 hours')
  expect((await queue.counts()).oldest).toBe(120 * minute)
  queue.clear()
})

test('it stands still until a tick and all that it has caused are over: messages, their retries without a delay, emails', async () => {
  const sent: [string, number][] = []
  const transporter = {
    async sendMail({ subject }: MailMessage) {
      await pause(1)
      sent.push([subject, now()])
    },
  }
  const mailer = new Mailer({ main: { transporter, from: 'shop@example.org' } }, { defaultProvider: 'main' })
  stop.push(() => mailer.close())
  const seen = new Set<number>()
  const failed = new Set<number>()
  const queue = await subscribed(
    async (payload) => {
      if (payload % 50 === 0) await pause(1)
      if (payload === 100 && failed.size === 0) {
        failed.add(payload)
        throw new Error('once')
      }
      expect(now()).toBe(3 * 60 * minute)
      seen.add(payload)
      if (payload > 297) await mailer.later((mail) => mail.to('ada@example.org').subject(`${payload}`))
    },
    { concurrency: 3 },
  )
  const job = cron('0 3 * * *', { name: freshName('clock') })
  stop.push(() => job.destroy())
  await job.start(async () => {
    await queue.publishMany([...Array(300).keys()], () => ({ attempts: 2, backoff: 0 }))
  })
  const service = await CronService.run({ crons: [], timezone: 'UTC', logger: memoryLogger() })
  stop.push(() => service.stop())
  await time.advance('1 day')
  expect([seen.size, failed.size, queue.dead]).toEqual([300, 1, []])
  // Those of `later` are a second apart.
  expect(sent).toEqual([
    ['298', 180 * minute],
    ['299', 180 * minute + 1000],
  ])
})

test('messages in the broker in memory expire, and a handler stops the clock', async () => {
  const seen: unknown[] = []
  await MqttService.connect({ provider: 'memory', logger: memoryLogger() })
  stop.push(() => MqttService.disconnect())
  const [soon, late] = [freshName('soon'), freshName('late')]
  const publish = mqtt.publish as (topic: string, message: unknown, options?: object) => Promise<void>
  await publish(soon, 1, { retain: true, messageExpiryInterval: 60 })
  await publish(late, 2, { retain: true, messageExpiryInterval: 120 })
  await time.advance('61 s')
  const handler = async (topic: unknown, message: unknown) => {
    await pause(5)
    seen.push([topic, message, now()])
  }
  const { unsubscribe } = await mqtt.subscribe('+', handler as never)
  stop.push(unsubscribe)
  clock.setTimeout(() => publish('other', 3), minute)
  await time.advance('10 min')
  expect(seen).toEqual([
    [late, 2, 61_000],
    ['other', 3, 121_000],
  ])
})
