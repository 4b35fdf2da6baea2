import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type GenericPubSub, type Queue, type QueueConfig, queue, RouteCollection, Server } from 'framework'
import { fillCarriers, followAttempts } from '../support/carriers.ts'
import { memoryLogger, pause } from '../support/kernel.ts'
import { gate, until } from '../support/queues.ts'
import { assertSubset, type ContractOptions, contractOf, type Make, uniqueName } from './contract.ts'

type AnyQueue = Queue<unknown, object>

/** An engine of the application, or the configuration of one that the framework has. */
export type EngineSource = GenericPubSub | QueueConfig

/** What every contract of queues takes. */
export interface QueueContractOptions extends ContractOptions {
  /** The kind that a configuration configures: `'bullmq'`, `'pgboss'`, `'sqs'` or `'memory'`. Left out for an engine of the application. */
  readonly kind?: string
  /** Makes what must exist before a queue is used. Default: the engine makes it by itself. */
  prepare?(name: string, attempts: number): Promise<unknown>
}

/** What engines have under different names, or not at all; the defaults are the options of `queue(name)`. */
export interface QueueEngineOptions extends QueueContractOptions {
  /** Returns a queue of the engine. Default: `queue(name, options)`. */
  queue?(name: string, options?: { schema: object }): AnyQueue
  /** The options of `publish` for this many attempts, with this many milliseconds between them. */
  attempts?(count: number, ms: number): object
  /** The options of `publish` for a message that is not handled within this many milliseconds, at least 1000. */
  delay?(ms: number): object
  /** The options of `publish` that add no second message with the same key; `false` if the engine has none. */
  readonly once?: false | ((key: string) => object)
  /** The options of `publish` for a priority: 0 comes before 1; `false` if the engine has none. */
  readonly priority?: false | ((rank: number) => object)
  /** Whether messages are handled in the order in which they were published. Default true. */
  readonly isOrdered?: boolean
  /** The shortest time between two attempts that the engine keeps, in milliseconds; 0 if it keeps none. Default 300. */
  readonly shortest?: number
}

/** The configuration of a server with one engine. */
export async function configOf(make: Make<EngineSource>, kind: string): Promise<QueueConfig> {
  const made = await make()
  const config = typeof (made as GenericPubSub).publish === 'function' ? { [kind]: made } : made
  return { ...config, queues: { default: kind } } as QueueConfig
}

/** A server that runs the queues of an engine, and what the tests need of it. */
async function open(make: Make<EngineSource>, { kind = 'own', prepare, ...engine }: QueueEngineOptions) {
  const logger = memoryLogger()
  const [begun, request] = [gate(), gate()]
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, closeTimeout: 20_000, logger },
    router: new RouteCollection(),
    background: { queues: { config: await configOf(make, kind), run: true } },
  })
  server.get('/slow', () => {
    begun.open()
    return request.opened
  })
  await server.listen()
  const named = (name: string, options?: { schema: object }): AnyQueue =>
    (engine.queue?.(name, options) ?? queue(name, options)).for(server) as AnyQueue
  return {
    ...{ server, begun, request, named },
    async queueOf(what: string, attempts = 1, options?: { schema: object }) {
      const name = uniqueName(what)
      await prepare?.(name, attempts)
      return named(name, options)
    },
    /** The attempts that failed: number, whether it was the last, message. */
    failuresOf: ({ name }: AnyQueue) =>
      logger.entries
        .filter(({ level, fields }) => level === 'error' && fields.queue === name && fields.attempt !== undefined)
        .map(({ message, fields }) => [
          fields.attempt,
          / no attempts are left$/.test(message!),
          (fields.err as Error).message,
        ]),
    close: () => server.close(),
  }
}

/**
 * Tests an engine of queues, of the application or of the framework. Each test has a server and queues of its own, and takes up to some
 * seconds; tests can run at the same time, if the runner has the time.
 *
 * @example
 * testQueueEngine(() => new PostgresMessages(pool), { test })
 */
export function testQueueEngine(make: Make<EngineSource>, options: QueueEngineOptions): void {
  const {
    kind = 'own',
    attempts: attemptsOf = (attempts, delay) => ({ attempts, backoff: { type: 'fixed', delay } }),
    delay: delayOf = (delay) => ({ delay }),
    once = (id) => ({ id }),
    priority = (priority) => ({ priority }),
    isOrdered = true,
    shortest = 300,
  } = options
  const contract = contractOf('an engine of queues', () => open(make, options), options)

  contract('a published message reaches the subscriber, once, with its id and attempt', async ({ queueOf }) => {
    const queue = await queueOf('delivery')
    const seen: unknown[] = []
    const most: number[] = []
    await queue.subscribe((payload, message) => {
      seen.push([payload, { ...message }])
      most.push(message.attempts ?? 1)
    })
    const { id } = await queue.publish({ book: 1 })
    assert.equal(typeof id, 'string')
    await until(() => seen.length > 0, 'the message')
    assertSubset(seen, [[{ book: 1 }, { id, queue: queue.name, attempt: 1 }]])
    assert.equal(seen.length, 1)
    assert.ok(most[0]! >= 1)
  })

  contract('messages wait for a subscriber', async ({ queueOf }) => {
    const queue = await queueOf('waiting')
    await queue.publish(1)
    await queue.publish(2)
    await until(async () => (await queue.counts()).waiting === 2, 'two waiting')
    // SQS does not say.
    const { oldest } = await queue.counts()
    if (oldest !== undefined) {
      assert.ok(oldest < 60_000)
      await until(async () => (await queue.counts()).oldest! > oldest, 'an older message')
    }
    const seen: unknown[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await until(() => seen.length === 2, 'both')
    assert.deepEqual(seen.sort(), [1, 2])
    await until(async () => Object.values(await queue.counts()).every((count) => count === 0), 'an empty queue')
  })

  contract('payloads arrive as JSON has them', async ({ queueOf }) => {
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
    for (const payload of payloads)
      assert.ok(
        seen.some((one) => isDeepStrictEqual(one, payload)),
        JSON.stringify(payload),
      )
  })

  contract('a payload without a form in JSON is refused, and nothing is sent', async ({ queueOf }) => {
    const queue = await queueOf('refused')
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    for (const payload of [undefined, 10n, { deep: 10n }, cyclic, () => 1, Symbol('x')]) {
      await assert.rejects(queue.publish(payload), { code: 'QueuePayloadError' }, String(typeof payload))
    }
    await assert.rejects(queue.publishMany([1, undefined]), { code: 'QueuePayloadError' })
    assertSubset(await queue.counts(), { waiting: 0, delayed: 0 })
  })

  contract('publish options that the engine does not have are refused', async ({ queueOf }) => {
    const queue = await queueOf('options')
    await assert.rejects(queue.publish(1, { atempts: 3 } as object), { code: 'OptionError' })
  })

  contract('the carrier of a tool comes with each attempt, and handlers see the payload alone', async ({ queueOf }) => {
    const queue = await queueOf('carrier', 5)
    const payloads: unknown[] = []
    await queue.subscribe((payload) => {
      if (payloads.push(payload) === 1) throw new Error('not yet')
    })
    const attempts = followAttempts(queue.name)
    const carrier = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'x=1', baggage: 'y=2' }
    const empty = fillCarriers({ other: 'not of the three', baggage: 'a\nb' })
    await queue.publish({ plain: 1 }, attemptsOf(5, 0))
    empty()
    await until(() => attempts.seen.length === 2, 'the first message')
    const fill = fillCarriers(carrier)
    await queue.publishMany([{ book: 1 }, 'text'], attemptsOf(5, 0))
    fill()
    await until(() => attempts.seen.length === 4, 'the batch')
    attempts.end()
    assert.deepEqual(attempts.seen, [{}, {}, carrier, carrier])
    assert.deepEqual(payloads.slice(0, 2), [{ plain: 1 }, { plain: 1 }])
    assert.deepEqual(new Set(payloads.slice(2)), new Set([{ book: 1 }, 'text']))
  })

  contract('a handler that throws tries again, and succeeds', async ({ queueOf, failuresOf }) => {
    const queue = await queueOf('retry', 5)
    const attempts: number[] = []
    await queue.subscribe((_payload, { attempt }) => {
      attempts.push(attempt)
      if (attempts.length < 3) throw new Error('not yet')
    })
    await queue.publish('x', attemptsOf(5, 0))
    await until(() => attempts.length === 3, 'three attempts')
    assert.deepEqual(attempts, [1, 2, 3])
    assert.deepEqual(failuresOf(queue), [
      [1, false, 'not yet'],
      [2, false, 'not yet'],
    ])
    await until(async () => (await queue.counts()).active === 0, 'the end')
    assert.equal((await queue.counts()).failed, 0)
  })

  contract(
    'a handler that hangs is aborted at its time limit, and the next attempt takes its place',
    async ({ queueOf, failuresOf }) => {
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
      await queue.publish('hang', attemptsOf(2, 0))
      await until(() => attempts.length === 2, 'the second attempt')
      assert.deepEqual(attempts, [1, 2])
      assert.equal(reasons.length, 1)
      for (const reason of [...reasons, ...failuresOf(queue).map(([, , message]) => message)])
        assert.match(String(reason), /the handler has not finished within 50 ms/)
      assert.equal(failuresOf(queue).length, 1)
    },
  )

  contract(
    'a poison message is tried a number of times, reported each time, then parked; the others are handled',
    async ({ queueOf, failuresOf }) => {
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
      const options = attemptsOf(3, 0)
      await queue.publishMany([...Array(50).keys(), 'poison', ...Array.from({ length: 50 }, (_, i) => i + 50)], options)
      await until(() => done.size === 100 && dead.length === 1, 'all but one')
      await until(async () => {
        const { waiting, active, failed } = await queue.counts()
        return waiting + active === 0 && failed === 1
      }, 'the parked one')
      assert.equal(tried, 3)
      assert.deepEqual(dead, [['poison', 'poison', 3]])
      assert.deepEqual(
        failuresOf(queue).map(([attempt, isLast]) => [attempt, isLast]),
        [
          [1, false],
          [2, false],
          [3, true],
        ],
      )
    },
  )

  if (shortest > 0)
    contract('the time between two attempts is kept', async ({ queueOf }) => {
      const queue = await queueOf('backoff', 3)
      const times: number[] = []
      await queue.subscribe(() => {
        times.push(performance.now())
        if (times.length < 2) throw new Error('not yet')
      })
      await queue.publish('x', attemptsOf(3, shortest))
      await until(() => times.length === 2, 'the second attempt')
      assert.ok(times[1]! - times[0]! > shortest * 0.9)
    })

  contract('a delayed message does not come early', async ({ queueOf }) => {
    const queue = await queueOf('delay')
    const start = performance.now()
    let after = 0
    await queue.subscribe(() => {
      after = performance.now() - start
    })
    await queue.publish('later', delayOf(1000))
    const counts = await queue.counts()
    // A busy machine may take longer than the second.
    if (performance.now() - start < 1000) assertSubset(counts, { delayed: 1, waiting: 0 })
    await until(() => after > 0, 'the message')
    assert.ok(after > 900)
  })

  contract('a subscriber has as many messages in work as it asked for, and one by default', async ({ queueOf }) => {
    for (const concurrency of [undefined, 4]) {
      const queue = await queueOf('concurrency')
      const full = gate()
      let now = 0
      let most = 0
      let done = 0
      await queue.subscribe(
        async () => {
          most = Math.max(most, ++now)
          if (now === (concurrency ?? 1)) full.open()
          await full.opened
          await new Promise((resolve) => setTimeout(resolve, 5))
          now--
          done++
        },
        concurrency === undefined ? {} : { concurrency },
      )
      await queue.publishMany(Array(20).fill(0))
      await until(() => done === 20, 'all')
      assert.equal(most, concurrency ?? 1)
    }
  })

  contract(
    'several subscribers share the messages; one that is taken back gets no more, the others go on',
    async ({ queueOf }) => {
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
      assert.equal(new Set(both()).size, 30)

      await handles[0]!.unsubscribe()
      await handles[0]!.unsubscribe()
      const before = seen[0]!.length
      await queue.publishMany([...Array(10).keys()].map((i) => 100 + i))
      await until(() => both().length === 40, 'the rest', 40_000)
      assert.equal(seen[0]!.length, before)
    },
  )

  contract('a handler may unsubscribe itself; messages in progress are finished', async ({ queueOf }) => {
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
    assert.equal(ran, 1)
  })

  contract(
    'a server that closes begins no further message, also while a request keeps it from closing',
    async ({ queueOf, server, begun, request }) => {
      const queue = await queueOf('closing', 5)
      const first = gate()
      const seen: unknown[] = []
      await queue.subscribe(async (payload) => {
        seen.push(payload)
        await first.opened
      })
      await queue.publishMany([1, 2, 3])
      await until(() => seen.length === 1, 'the first')
      const answered = fetch(`${server.url}/slow`)
      await begun.opened
      const closed = server.close()
      await new Promise((resolve) => server.closing.addEventListener('abort', resolve))
      first.open()
      // More than any engine needs to give out the next.
      await pause(200)
      request.open()
      await Promise.all([answered, closed])
      assert.equal(seen.length, 1)
    },
  )

  contract('a batch gives an id for each message, in order; none of nothing', async ({ queueOf }) => {
    const queue = await queueOf('batch')
    assert.deepEqual(await queue.publishMany([]), [])
    const ids = (await queue.publishMany([...Array(25).keys()])).map(({ id }) => id)
    assert.equal(new Set(ids).size, 25)
    const seen = new Map<string, unknown>()
    await queue.subscribe((payload, { id }) => void seen.set(id, payload), { concurrency: 10 })
    await until(() => seen.size === 25, 'all')
    assert.deepEqual(
      ids.map((id) => seen.get(id)),
      [...Array(25).keys()],
    )
  })

  if (isOrdered)
    contract('messages come in the order in which they were published', async ({ queueOf }) => {
      const queue = await queueOf('order')
      const seen: unknown[] = []
      for (let i = 0; i < 100; i++) await queue.publish(i)
      await queue.subscribe((payload) => void seen.push(payload))
      await until(() => seen.length === 100, 'all')
      assert.deepEqual(seen, [...Array(100).keys()])
    })

  if (priority)
    contract('the more urgent come first', async ({ queueOf }) => {
      const queue = await queueOf('priority')
      await queue.publishMany([2, 1, 0, 2, 1, 0], (rank) => priority(rank as number))
      const seen: unknown[] = []
      await queue.subscribe((payload) => void seen.push(payload))
      await until(() => seen.length === 6, 'all')
      assert.deepEqual(seen, [0, 0, 1, 1, 2, 2])
    })

  if (once)
    contract('an existing message is not added again', async ({ queueOf }) => {
      const queue = await queueOf('once')
      const key = '7f4f8a2e-0d5c-4b0e-9a51-3f1d8a6f0a11'
      const ids = [await queue.publish('a', once(key)), await queue.publish('b', once(key))]
      assert.equal(ids[0]!.id, ids[1]!.id)
      const seen: unknown[] = []
      await queue.subscribe((payload) => void seen.push(payload))
      await queue.publish('last')
      await until(() => seen.includes('last'), 'the last')
      assert.deepEqual(seen.sort(), ['a', 'last'])
    })

  const schema = {
    type: 'object',
    properties: { book: { type: 'integer' }, copies: { type: 'integer', default: 1 } },
    required: ['book'],
  }

  contract('a payload that the schema refuses is not published; its defaults arrive', async ({ queueOf }) => {
    const queue = await queueOf('schema', 1, { schema })
    await assert.rejects(queue.publish({ book: 'x' }), {
      code: 'QueuePayloadError',
      message: /\/book/,
    })
    const seen: unknown[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await queue.publish({ book: 1 })
    await until(() => seen.length === 1, 'the valid one')
    assert.deepEqual(seen, [{ book: 1, copies: 1 }])
  })

  contract(
    'a payload that comes from elsewhere and that the schema refuses is parked at once',
    async ({ queueOf, named, failuresOf }) => {
      const strict = await queueOf('foreign', 5, { schema })
      const dead: unknown[] = []
      let ran = 0
      await strict.subscribe(() => void ran++, { onDead: (payload, error) => void dead.push([payload, error]) })
      await named(strict.name).publish({ book: 'x' }, attemptsOf(5, 0))
      await until(() => dead.length === 1, 'the end of it')
      await until(async () => (await strict.counts()).failed === 1, 'its parking')
      assertSubset(dead, [[{ book: 'x' }]])
      assert.equal((dead[0] as [unknown, { code: string }])[1].code, 'QueuePayloadError')
      assert.deepEqual(
        failuresOf(strict).map(([attempt, isLast]) => [attempt, isLast]),
        [[1, true]],
      )
      assert.equal(ran, 0)
    },
  )

  contract('the engine says that it is well', async ({ queueOf, server }) => {
    const queue = await queueOf('health')
    assert.equal(await queue.health(), undefined)
    const service = server.services.get('queues')
    assert.equal(await service.health(), undefined)
    const reports = await service.counts()
    assertSubset(
      reports.find((report) => report.queue === queue.name),
      {
        kind,
        waiting: 0,
        active: 0,
        delayed: 0,
        failed: 0,
      },
    )
  })

  contract('a handler may publish, to its own queue too', async ({ queueOf }) => {
    const queue = await queueOf('chain')
    const seen: unknown[] = []
    await queue.subscribe(async (payload) => {
      seen.push(payload)
      if ((payload as number) < 3) await queue.publish((payload as number) + 1)
    })
    await queue.publish(0)
    await until(() => seen.length === 4, 'the chain')
    assert.deepEqual(seen, [0, 1, 2, 3])
  })
}
