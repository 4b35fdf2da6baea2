import { type MemoryQueue, memoryQueue, queue, RouteCollection, Server } from 'framework'
import { clock } from 'framework/kernel'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { freshName } from '../../support/queues.ts'

// The times of the portable queue, to the millisecond: the engine in memory follows the clock of a test.

let time: TestClock
let server: Server
beforeEach(async () => {
  // Handlers that do not end, and batches that wait for others, each take the whole patience; everything else is in memory.
  time = testClock('2026-03-28T06:00:00Z', { patience: 200 })
  server = new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, router: new RouteCollection() },
    logger: memoryLogger(),
    background: { queues: { run: true } },
  })
  await server.listen()
})
afterEach(async () => {
  await server.close()
  time.restore()
})

/** The times of the calls of a handler that fails. */
async function failing(options: object) {
  const orders = queue<number>(freshName('times')).for(server)
  const begin = clock.now()
  const times: number[] = []
  let dead = 0
  await orders.subscribe(
    () => {
      times.push(clock.now() - begin)
      throw new Error('no')
    },
    { onDead: () => void dead++ },
  )
  await orders.publish(1, options)
  await time.advance('1 day')
  expect(dead).toBe(1)
  return times
}

test('backoff: none, fixed, exponential', async () => {
  expect(await failing({ attempts: 3 })).toEqual([0, 0, 0])
  expect(await failing({ attempts: 3, backoff: 60_000 })).toEqual([0, 60_000, 120_000])
  expect(await failing({ attempts: 5, backoff: { type: 'exponential', delay: 1000 } })).toEqual([
    0, 1000, 3000, 7000, 15_000,
  ])
  expect(await failing({ attempts: 2, delay: 500, backoff: 250 })).toEqual([500, 750])
})

test('jitter takes away up to its part', async () => {
  const times = await failing({ attempts: 200, backoff: { type: 'fixed', delay: 1000, jitter: 0.25 } })
  const gaps = times.slice(1).map((one, i) => one - times[i]!)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(750)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(1001)
  expect(Math.max(...gaps) - Math.min(...gaps)).toBeGreaterThan(150)
})

test('an id with a ttl is free exactly after it', async () => {
  const orders = queue<number>(freshName('ids')).for(server)
  const seen: number[] = []
  await orders.subscribe((n) => void seen.push(n))
  const id = { value: 'day', ttl: 86_400_000 }
  await orders.publish(1, { id })
  await time.advance(86_399_999)
  await orders.publish(2, { id })
  await time.advance(1)
  await orders.publish(3, { id })
  await time.advance(0)
  expect(seen).toEqual([1, 3])
})

test('a message expires at its time, and not before', async () => {
  const orders = memoryQueue<string>(freshName('expiry')).for(server)
  await orders.publish('late', { expireIn: 1000, delay: 1000 })
  await orders.publish('in time', { expireIn: 1001, delay: 1000 })
  const seen: string[] = []
  await orders.subscribe((one) => void seen.push(one))
  await time.advance('1 h')
  expect(seen).toEqual(['in time'])
  expect(orders.dead.map(({ payload }) => payload)).toEqual(['late'])
})

test('a timeout counts from the beginning of each attempt, and each can have another one', async () => {
  const orders: MemoryQueue<string> = memoryQueue<string>(freshName('limits')).for(server)
  const begin = clock.now()
  const ends: [string, number, number][] = []
  await orders.subscribe(
    async (one, { attempt, signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ends.push([one, attempt, clock.now() - begin])
    },
    { timeout: 5000, concurrency: 2 },
  )
  await orders.publish('own', { timeout: 100, attempts: 2, backoff: 50 })
  await orders.publish('usual')
  await time.advance('1 min')
  expect(ends).toEqual([
    ['own', 1, 100],
    ['own', 2, 250],
    ['usual', 1, 5000],
  ])
  expect(orders.dead).toHaveLength(2)
})

test('a repetition follows the clock of its zone over a change of it, and ends with stopRepeat', async () => {
  const digest = queue<string>(freshName('digest')).for(server)
  const seen: string[] = []
  await digest.subscribe(() => void seen.push(new Date(clock.now()).toISOString()))
  await digest.publish('x', { repeat: { key: 'daily', pattern: '0 9 * * *', tz: 'Europe/Zurich' } })
  await time.advance('3 days')
  // Clocks in Zurich go forward on 29 March 2026.
  expect(seen).toEqual(['2026-03-28T08:00:00.000Z', '2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z'])
  expect(await digest.stopRepeat('daily')).toBe(true)
  await time.advance('3 days')
  expect(seen).toHaveLength(3)
})

test('a repetition goes on when a clock that was a day ahead is corrected', async () => {
  const ticks = queue<string>(freshName('corrected')).for(server)
  const seen: number[] = []
  await ticks.subscribe(() => void seen.push(clock.now()))
  const start = clock.now()
  await time.set(start + 86_400_000)
  await ticks.publish('x', { repeat: { key: 'a', every: 60_000 } })
  await time.advance('90 s')
  const before = seen.length
  expect(before).toBeGreaterThan(0)
  await time.set(start)
  await time.advance('3 min')
  expect(seen.slice(before).map((at) => at - (at % 60_000))).toEqual(
    [1, 2, 3].map((n) => start - (start % 60_000) + n * 60_000),
  )
})

test('a repetition every so many milliseconds is aligned, and a later one with its key replaces it', async () => {
  const ticks = queue<string>(freshName('ticks')).for(server)
  const seen: [string, number][] = []
  await ticks.subscribe((one) => void seen.push([one, clock.now() % 3_600_000]))
  await time.advance('7 min')
  await ticks.publish('quarter', { repeat: { key: 'a', every: 900_000 } })
  await time.advance('30 min')
  await ticks.publish('half', { repeat: { key: 'a', every: 1_800_000 } })
  await time.advance('1 h')
  expect(seen).toEqual([
    ['quarter', 900_000],
    ['quarter', 1_800_000],
    ['half', 0],
    ['half', 1_800_000],
  ])
})

test('a tick has the options of the repetition: a delay, attempts, a time limit', async () => {
  const ticks = memoryQueue<string>(freshName('options')).for(server)
  const seen: [number, number | undefined][] = []
  await ticks.subscribe((_one, { attempts, signal }) => {
    seen.push([clock.now() % 60_000, attempts])
    return new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  await ticks.publish('x', { repeat: { key: 'a', every: 60_000 }, delay: 1000, attempts: 2, timeout: 500 })
  await time.advance(62_500)
  expect(seen).toEqual([
    [1000, 2],
    [1500, 2],
  ])
})

test('the limit of a message in a batch counts from the call, not while it waits for others or for its turn', async () => {
  const rows = memoryQueue<number>(freshName('slow')).for(server)
  const calls: number[][] = []
  const slow = (batch: number[]) => {
    calls.push(batch)
    return clock.sleep(400)
  }
  await rows.subscribeBatch(slow, { size: 3, wait: 1000, timeout: 500 })
  await rows.publishMany([1, 2, 3])
  await rows.publish(4)
  await rows.publish(5, { timeout: 300 })
  await time.advance(5000)
  expect(calls).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
  expect(rows.dead).toMatchObject([{ payload: 5, error: { message: expect.stringContaining('within 300 ms') } }])
})

test('a batch waits for its time after the first message', async () => {
  const rows = queue<number>(freshName('rows')).for(server)
  const calls: [number, number[]][] = []
  const begin = clock.now()
  await rows.subscribeBatch((batch) => void calls.push([clock.now() - begin, batch]), { size: 3, wait: 1000 })
  await rows.publish(1)
  await time.advance(999)
  await rows.publish(2)
  expect(calls).toEqual([])
  await time.advance(1)
  await rows.publishMany([3, 4, 5, 6])
  await time.advance(2000)
  expect(calls).toEqual([
    [1000, [1, 2]],
    [1000, [3, 4, 5]],
    [2000, [6]],
  ])
})

test('ids whose time is over leave the memory, also those that came after one that is taken for long', async () => {
  const orders = queue<number>(freshName('ids')).for(server)
  await orders.subscribe(() => {})
  const publish = (value: string, ttl: number) => orders.publish(1, { id: { value, ttl } })
  await publish('long', 86_400_000)
  for (let i = 0; i < 5000; i++) {
    await publish(`${i}`, 1)
    if (i % 500 === 0) await time.advance(2)
  }
  expect(server.services.get('queues').engines.memory.topic(orders.name).taken.size).toBeLessThan(2500)
})

test('a message of a newer version expires as well, in a process that does not know the version', async () => {
  const name = freshName('newer')
  const [old, newer] = [queue<number>(name), queue<number>(name, { version: 2, upgrade: (payload) => payload })]
  const dead: Error[] = []
  await old.for(server).subscribe(() => {}, { onDead: (_payload, error) => void dead.push(error) })
  await newer.for(server).publish(1, { expireIn: 5000 })
  await time.advance(4000)
  expect(dead).toEqual([])
  await time.advance(2000)
  expect(dead).toMatchObject([{ code: 'QueueExpiredError' }])
})

test('a batch that is waiting for others is handled at once when its server closes or its subscriber leaves', async () => {
  const rows = queue<number>(freshName('rows')).for(server)
  const seen: number[][] = []
  const options = { size: 10, wait: 3_600_000 }
  const handle = await rows.subscribeBatch((batch) => void seen.push(batch), options)
  await rows.publishMany([1, 2])
  await time.advance(0)
  await handle.unsubscribe()
  await time.advance(0)
  expect(seen).toEqual([[1, 2]])
  await rows.subscribeBatch((batch) => void seen.push(batch), options)
  await rows.publishMany([3])
  await time.advance(0)
  await server.close()
  expect(seen).toEqual([[1, 2], [3]])
})
