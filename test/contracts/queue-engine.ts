import {
  defineQueueConfiguration,
  type Queue,
  type QueueConfig,
  type QueueFailure,
  QueueService,
  RouteCollection,
  Server,
} from 'framework'
import { afterAll, beforeAll, describe, expect, test as inTurn } from 'vitest'
import { fillCarriers, followAttempts } from '../support/carriers.ts'
import { memoryLogger, pause } from '../support/kernel.ts'
import { freshName, gate, until } from '../support/queues.ts'

type AnyQueue = Queue<unknown, object>

/** The options of one engine for features that all engines have. */
export interface EngineUnderTest {
  readonly kind: string
  queue(name: string, options?: { schema: object }): AnyQueue
  /** What must be there before a queue is used, where it is not made by itself. */
  prepare?(name: string, attempts: number): Promise<unknown>
  /** So many attempts with so many milliseconds between. */
  attempts(count: number, ms: number): object
  /** Not before so many milliseconds, at least 1000. */
  delay(ms: number): object
  /** Publish options under which the second message with the same key is no other. */
  once?(key: string): object
  /** 0 comes before 1. */
  priority?(rank: number): object
  /** Whether messages come in the order in which they were published. */
  readonly isOrdered: boolean
  /** The shortest time between two attempts, in milliseconds; 0 for no limit. */
  readonly shortest: number
}

/** What every engine must do, said once; each runs it against a real server. The tests may run at the same time. */
export function testEngine(
  configOf: () => QueueConfig,
  { test, ...engine }: EngineUnderTest & { test(name: string, run: () => Promise<void>): unknown },
): void {
  const failures: (QueueFailure & { error: Error })[] = []
  const failuresOf = (queue: AnyQueue) => failures.filter((one) => one.queue === queue.name)

  beforeAll(async () => {
    const config = configOf()
    const settings = config[engine.kind] as object
    const errorHandler = (error: Error, failure: QueueFailure) => void failures.push({ ...failure, error })
    defineQueueConfiguration({ ...config, [engine.kind]: { ...settings, errorHandler } })
    await QueueService.run()
  })
  afterAll(() => QueueService.stop())

  const queueOf = async (what: string, attempts = 1, options?: { schema: object }) => {
    const name = freshName(what)
    await engine.prepare?.(name, attempts)
    return engine.queue(name, options)
  }

  test('a published message reaches the subscriber, once, with its id and attempt', async () => {
    const queue = await queueOf('delivery')
    const seen: unknown[] = []
    const most: number[] = []
    await queue.subscribe((payload, message) => {
      seen.push([payload, message])
      most.push(message.attempts ?? 1)
    })
    const { id } = await queue.publish({ book: 1 })
    expect(id).toEqual(expect.any(String))
    await until(() => seen.length > 0, 'the message')
    expect(seen).toEqual([[{ book: 1 }, expect.objectContaining({ id, queue: queue.name, attempt: 1 })]])
    expect(most[0]).toBeGreaterThanOrEqual(1)
  })

  test('messages wait for a subscriber', async () => {
    const queue = await queueOf('waiting')
    await queue.publish(1)
    await queue.publish(2)
    await until(async () => (await queue.counts()).waiting === 2, 'two waiting')
    // SQS does not say.
    const { oldest } = await queue.counts()
    if (oldest !== undefined) {
      expect(oldest).toBeLessThan(60_000)
      await until(async () => (await queue.counts()).oldest! > oldest, 'an older message')
    }
    const seen: unknown[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await until(() => seen.length === 2, 'both')
    expect(seen.sort()).toEqual([1, 2])
    await until(async () => Object.values(await queue.counts()).every((count) => count === 0), 'an empty queue')
  })

  test('payloads arrive as JSON has them', async () => {
    const queue = await queueOf('fidelity')
    const payloads = [
      { nested: { list: [1, [2, { three: 3 }]], nothing: null, no: false }, when: '2026-01-01T00:00:00.000Z' },
      'text «mit» Ümlauten 🎈\n\t"quoted" \u2028 \u007f',
      0,
      -1.5e300,
      false,
      null,
      [],
      ['a', ['b']],
      {},
      { $payload: 1, data: 2 },
      { big: 'x'.repeat(200_000) },
    ]
    const seen: unknown[] = []
    await queue.subscribe((payload) => void seen.push(payload), { concurrency: 5 })
    for (const payload of payloads) await queue.publish(payload)
    await until(() => seen.length === payloads.length, 'all')
    for (const payload of payloads) expect(seen).toContainEqual(payload)
  })

  test('a payload without a form in JSON is refused, and nothing is sent', async () => {
    const queue = await queueOf('refused')
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    for (const payload of [undefined, 10n, { deep: 10n }, cyclic, () => 1, Symbol('x')]) {
      await expect(queue.publish(payload), String(typeof payload)).rejects.toMatchObject({ code: 'QueuePayloadError' })
    }
    await expect(queue.publishMany([1, undefined])).rejects.toMatchObject({ code: 'QueuePayloadError' })
    expect(await queue.counts()).toMatchObject({ waiting: 0, delayed: 0 })
  })

  test('publish options that the engine does not have are refused', async () => {
    const queue = await queueOf('options')
    await expect(queue.publish(1, { atempts: 3 } as object)).rejects.toMatchObject({ code: 'OptionError' })
  })

  // A tool adds its carrier to every message of the process.
  inTurn('the carrier of a tool comes with each attempt, and handlers see the payload alone', async () => {
    const queue = await queueOf('carrier', 5)
    const payloads: unknown[] = []
    await queue.subscribe((payload) => {
      if (payloads.push(payload) === 1) throw new Error('not yet')
    })
    const attempts = followAttempts(queue.name)
    const carrier = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'x=1', baggage: 'y=2' }
    const empty = fillCarriers({ other: 'not of the three', baggage: 'a\nb' })
    await queue.publish({ plain: 1 }, engine.attempts(5, 0))
    empty()
    await until(() => attempts.seen.length === 2, 'the first message')
    const fill = fillCarriers(carrier)
    await queue.publishMany([{ book: 1 }, 'text'], engine.attempts(5, 0))
    fill()
    await until(() => attempts.seen.length === 4, 'the batch')
    attempts.end()
    expect(attempts.seen).toEqual([{}, {}, carrier, carrier])
    expect(payloads.slice(0, 2)).toEqual([{ plain: 1 }, { plain: 1 }])
    expect(payloads.slice(2)).toEqual(expect.arrayContaining([{ book: 1 }, 'text']))
  })

  test('a handler that throws tries again, and succeeds', async () => {
    const queue = await queueOf('retry', 5)
    const attempts: number[] = []
    await queue.subscribe((_payload, { attempt }) => {
      attempts.push(attempt)
      if (attempts.length < 3) throw new Error('not yet')
    })
    await queue.publish('x', engine.attempts(5, 0))
    await until(() => attempts.length === 3, 'three attempts')
    expect(attempts).toEqual([1, 2, 3])
    expect(failuresOf(queue).map(({ attempt, final, error }) => [attempt, final, error.message])).toEqual([
      [1, false, 'not yet'],
      [2, false, 'not yet'],
    ])
    await until(async () => (await queue.counts()).active === 0, 'the end')
    expect((await queue.counts()).failed).toBe(0)
  })

  test('a handler that hangs is aborted at its time limit, and the next attempt takes its place', async () => {
    const queue = await queueOf('hanging', 2)
    const reasons: unknown[] = []
    const attempts: number[] = []
    await queue.subscribe(
      (_payload, { attempt, signal }) => {
        attempts.push(attempt)
        signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message))
        return attempt === 1 ? new Promise(() => {}) : undefined
      },
      { timeout: 50 },
    )
    await queue.publish('hang', engine.attempts(2, 0))
    await until(() => attempts.length === 2, 'the second attempt')
    const late = expect.stringMatching(/the handler has not finished within 50 ms/)
    expect([attempts, reasons]).toEqual([[1, 2], [late]])
    expect(failuresOf(queue).map(({ error }) => error.message)).toEqual([late])
  })

  test('a poison message is tried a number of times, reported each time, then parked; the others are handled', async () => {
    const queue = await queueOf('poison', 3)
    const done = new Set<unknown>()
    let tried = 0
    const dead: unknown[] = []
    await queue.subscribe(
      async (payload) => {
        if (payload === 'poison') {
          tried++
          // Not even an error.
          throw 'poison'
        }
        done.add(payload)
      },
      { concurrency: 5, onDead: (payload, error, { attempt }) => void dead.push([payload, error.message, attempt]) },
    )
    const options = engine.attempts(3, 0)
    await queue.publishMany([...Array(50).keys(), 'poison', ...Array.from({ length: 50 }, (_, i) => i + 50)], options)
    await until(() => done.size === 100 && dead.length === 1, 'all but one')
    await until(async () => {
      const { waiting, active, failed } = await queue.counts()
      return waiting + active === 0 && failed === 1
    }, 'the parked one')
    expect(tried).toBe(3)
    expect(dead).toEqual([['poison', 'poison', 3]])
    expect(failuresOf(queue).map(({ attempt, final }) => [attempt, final])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ])
  })

  if (engine.shortest > 0)
    test('the time between two attempts is kept', async () => {
      const queue = await queueOf('backoff', 3)
      const times: number[] = []
      await queue.subscribe(() => {
        times.push(performance.now())
        if (times.length < 2) throw new Error('not yet')
      })
      await queue.publish('x', engine.attempts(3, engine.shortest))
      await until(() => times.length === 2, 'the second attempt')
      expect(times[1]! - times[0]!).toBeGreaterThan(engine.shortest * 0.9)
    })

  test('a delayed message does not come early', async () => {
    const queue = await queueOf('delay')
    const start = performance.now()
    let after = 0
    await queue.subscribe(() => {
      after = performance.now() - start
    })
    await queue.publish('later', engine.delay(1000))
    expect(await queue.counts()).toMatchObject({ delayed: 1, waiting: 0 })
    await until(() => after > 0, 'the message')
    expect(after).toBeGreaterThan(900)
  })

  test('a subscriber has as many messages in work as it asked for, and one by default', async () => {
    for (const concurrency of [undefined, 4]) {
      const queue = await queueOf('concurrency')
      let now = 0
      let most = 0
      let done = 0
      await queue.subscribe(
        async () => {
          most = Math.max(most, ++now)
          await new Promise((resolve) => setTimeout(resolve, 30))
          now--
          done++
        },
        concurrency === undefined ? {} : { concurrency },
      )
      await queue.publishMany(Array(20).fill(0))
      await until(() => done === 20, 'all')
      expect(most).toBe(concurrency ?? 1)
    }
  })

  test('several subscribers share the messages; one that is taken back gets no more, the others go on', async () => {
    const queue = await queueOf('share', 5)
    const seen: unknown[][] = [[], []]
    const handles = await Promise.all(
      seen.map((list) =>
        queue.subscribe(async (payload) => {
          list.push(payload)
          await new Promise((resolve) => setTimeout(resolve, 5))
        }),
      ),
    )
    const both = () => [...seen[0]!, ...seen[1]!]
    await queue.publishMany([...Array(30).keys()])
    await until(() => both().length === 30, 'all')
    expect(new Set(both()).size).toBe(30)

    await handles[0]!.unsubscribe()
    await handles[0]!.unsubscribe()
    const before = seen[0]!.length
    await queue.publishMany([...Array(10).keys()].map((i) => 100 + i))
    await until(() => both().length === 40, 'the rest', 40_000)
    expect(seen[0]!.length).toBe(before)
  })

  test('a handler may unsubscribe itself; messages in progress are finished', async () => {
    const queue = await queueOf('leave', 5)
    let ran = 0
    const handle = await queue.subscribe(async () => {
      ran++
      await handle.unsubscribe()
    })
    await queue.publish(1)
    await until(() => ran === 1, 'the first')
    await until(async () => (await queue.counts()).active === 0, 'its end')
    await queue.publish(2)
    await until(async () => (await queue.counts()).waiting === 1, 'the second waits')
    expect(ran).toBe(1)
  })

  // The workers of the process stop meanwhile.
  inTurn('a server that closes begins no further message, also while a request keeps it from closing', async () => {
    const queue = await queueOf('closing', 5)
    const server = new Server({
      ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, logger: memoryLogger() },
      router: new RouteCollection(),
      plugins: { queues: { run: true } },
    })
    const [begun, request] = [gate(), gate()]
    server.get('/slow', () => {
      begun.open()
      return request.opened
    })
    const first = gate()
    const seen: unknown[] = []
    const handle = await queue.subscribe(async (payload) => {
      seen.push(payload)
      await first.opened
    })
    // From here on the workers are those of the server alone.
    const { port } = await server.listen()
    await QueueService.stop()
    try {
      await queue.publishMany([1, 2, 3])
      await until(() => seen.length === 1, 'the first')
      const answered = fetch(`http://127.0.0.1:${port}/slow`)
      await begun.opened
      const closed = server.close()
      await new Promise((resolve) => server.closing.addEventListener('abort', resolve))
      first.open()
      // More than any engine needs to give out the next.
      await pause(200)
      request.open()
      await Promise.all([answered, closed])
      expect(seen).toHaveLength(1)
    } finally {
      await handle.unsubscribe()
      await QueueService.run()
    }
  })

  test('a batch gives an id for each message, in order; none of nothing', async () => {
    const queue = await queueOf('batch')
    expect(await queue.publishMany([])).toEqual([])
    const ids = (await queue.publishMany([...Array(25).keys()])).map(({ id }) => id)
    expect(new Set(ids).size).toBe(25)
    const seen = new Map<string, unknown>()
    await queue.subscribe((payload, { id }) => void seen.set(id, payload), { concurrency: 10 })
    await until(() => seen.size === 25, 'all')
    expect(ids.map((id) => seen.get(id))).toEqual([...Array(25).keys()])
  })

  if (engine.isOrdered)
    test('messages come in the order in which they were published', async () => {
      const queue = await queueOf('order')
      const seen: unknown[] = []
      for (let i = 0; i < 100; i++) await queue.publish(i)
      await queue.subscribe((payload) => void seen.push(payload))
      await until(() => seen.length === 100, 'all')
      expect(seen).toEqual([...Array(100).keys()])
    })

  if (engine.priority)
    test('the more urgent come first', async () => {
      const queue = await queueOf('priority')
      await queue.publishMany([2, 1, 0, 2, 1, 0], (rank) => engine.priority!(rank as number))
      const seen: unknown[] = []
      await queue.subscribe((payload) => void seen.push(payload))
      await until(() => seen.length === 6, 'all')
      expect(seen).toEqual([0, 0, 1, 1, 2, 2])
    })

  if (engine.once)
    test('an existing message is not added again', async () => {
      const queue = await queueOf('once')
      const key = '7f4f8a2e-0d5c-4b0e-9a51-3f1d8a6f0a11'
      const ids = [await queue.publish('a', engine.once!(key)), await queue.publish('b', engine.once!(key))]
      expect(ids[0]!.id).toBe(ids[1]!.id)
      const seen: unknown[] = []
      await queue.subscribe((payload) => void seen.push(payload))
      await queue.publish('last')
      await until(() => seen.includes('last'), 'the last')
      expect(seen.sort()).toEqual(['a', 'last'])
    })

  describe('with a schema', () => {
    const schema = {
      type: 'object',
      properties: { book: { type: 'integer' }, copies: { type: 'integer', default: 1 } },
      required: ['book'],
    }

    test('a payload that it refuses is not published; its defaults arrive', async () => {
      const queue = await queueOf('schema', 1, { schema })
      await expect(queue.publish({ book: 'x' })).rejects.toMatchObject({
        code: 'QueuePayloadError',
        message: expect.stringContaining('/book'),
        issues: [expect.anything()],
      })
      const seen: unknown[] = []
      await queue.subscribe((payload) => void seen.push(payload))
      await queue.publish({ book: 1 })
      await until(() => seen.length === 1, 'the valid one')
      expect(seen).toEqual([{ book: 1, copies: 1 }])
    })

    test('one that comes from elsewhere and is not valid is parked at once', async () => {
      const name = freshName('foreign')
      await engine.prepare?.(name, 5)
      const strict = engine.queue(name, { schema })
      const dead: unknown[] = []
      let ran = 0
      await strict.subscribe(() => void ran++, { onDead: (payload, error) => void dead.push([payload, error]) })
      await engine.queue(name).publish({ book: 'x' }, engine.attempts(5, 0))
      await until(() => dead.length === 1, 'the end of it')
      await until(async () => (await strict.counts()).failed === 1, 'its parking')
      expect(dead).toEqual([[{ book: 'x' }, expect.objectContaining({ code: 'QueuePayloadError' })]])
      expect(failuresOf(strict).map(({ attempt, final }) => [attempt, final])).toEqual([[1, true]])
      expect(ran).toBe(0)
    })
  })

  test('the engine says that it is well', async () => {
    const queue = await queueOf('health')
    await expect(queue.health()).resolves.toBeUndefined()
    await expect(new QueueService().health()).resolves.toBeUndefined()
    const reports = await new QueueService().counts()
    expect(reports.find((report) => report.queue === queue.name)).toMatchObject({
      kind: engine.kind,
      waiting: 0,
      active: 0,
      delayed: 0,
      failed: 0,
    })
  })

  test('a handler may publish, to its own queue too', async () => {
    const queue = await queueOf('chain')
    const seen: unknown[] = []
    await queue.subscribe(async (payload) => {
      seen.push(payload)
      if ((payload as number) < 3) await queue.publish((payload as number) + 1)
    })
    await queue.publish(0)
    await until(() => seen.length === 4, 'the chain')
    expect(seen).toEqual([0, 1, 2, 3])
  })
}
