import { inspect } from 'node:util'
import {
  bullmqQueue,
  createQueue,
  defineQueueConfiguration,
  memoryQueue,
  pgbossQueue,
  type QueueConfig,
  QueueService,
  sqsQueue,
} from 'framework'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../support/own-server.ts'
import { freshName, until } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

afterEach(async () => {
  vi.unstubAllEnvs()
  await QueueService.stop()
})

const secret = 'hunter2'

/** The error, with everything that a log or the end of a process would show of it. */
async function failureOf(run: () => unknown): Promise<Error> {
  try {
    await run()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing failed')
}

describe('a secret of a configuration is in no error', () => {
  test.each([
    ['the configuration', `redis://user:${secret}@host`],
    ['settings', { bullmq: `redis://user:${secret}@host` }],
    ['an address of another kind', { bullmq: { connection: `http://user:${secret}@host` } }],
    ['an invalid address', { bullmq: { connection: `redis://user:/${secret}@host` } }],
    ['an address of another database', { pgboss: { connectionString: `mysql://user:${secret}@host/db` } }],
    ['an invalid address of a database', { pgboss: { connectionString: `postgres://user:a#${secret}@host/db` } }],
    ['an address whose password looks like a port', { bullmq: { connection: `redis://user:1#${secret}@host` } }],
    ['credentials as text', { sqs: { credentials: `AKIA:${secret}` } }],
    ['an invalid endpoint', { sqs: { endpoint: `AKIA:${secret}@host:1` } }],
  ])('%s', async (_what, config) => {
    const error = await failureOf(() => defineQueueConfiguration(config as QueueConfig))
    expect(error).toMatchObject({ code: 'OptionError' })
    expect(inspect(error, { depth: 9 })).not.toContain(secret)
  })

  test.each([
    ['REDIS_URL', 'bullmq', () => bullmqQueue<number>('env')],
    ['DATABASE_URL', 'pgboss', () => pgbossQueue<number>('env')],
  ])('an invalid %s of the environment', async (name, kind, make) => {
    vi.stubEnv(name, `${secret}:@:`)
    defineQueueConfiguration({ [kind]: {} })
    const error = await failureOf(() => make().publish(1))
    expect(error.message).toContain(name)
    expect(inspect(error, { depth: 9 })).not.toContain(secret)
  })

  test.each([
    [
      'bullmq',
      (port: number) => ({ connection: `redis://127.0.0.1:${port}/1?password=${secret}` }),
      () => bullmqQueue<number>('secret'),
      'redis://127.0.0.1:',
    ],
    [
      'bullmq',
      (port: number) => ({ connection: { host: '127.0.0.1', port, password: secret } }),
      () => bullmqQueue<number>('secret'),
      'redis://127.0.0.1:',
    ],
    [
      'pgboss',
      (port: number) => ({
        connectionString: `postgres://user:%2F${secret}%40@127.0.0.1:${port}/db?password=${secret}`,
      }),
      () => pgbossQueue<number>('secret'),
      'postgres://127.0.0.1:',
    ],
    [
      'sqs',
      (port: number) => ({
        endpoint: `http://user:${secret}@127.0.0.1:${port}`,
        region: 'eu-west-1',
        credentials: { accessKeyId: secret, secretAccessKey: secret },
      }),
      () => sqsQueue<number>('secret'),
      'SQS at http://127.0.0.1:',
    ],
  ])('%s that cannot be reached', async (kind, settings, make, shown) => {
    defineQueueConfiguration({ [kind]: { ...settings(await freePort()), publishTimeout: 400 } })
    const error = await failureOf(() => make().publish(1))
    expect(error).toMatchObject({ code: 'QueueUnavailableError', message: expect.stringContaining(shown) })
    expect(inspect(error, { depth: 9 })).not.toContain(secret)
  })

  test.skipIf(!hasRedis)('a password that Redis refuses: the reason is reported, the password is not', async () => {
    const redis = await startRedis()
    try {
      const connection = redis.url.replace('//', `//nobody:${secret}@`)
      defineQueueConfiguration({ bullmq: { connection, publishTimeout: 3_000 } })
      const error = await failureOf(() => bullmqQueue<number>('refused').publish(1))
      expect(error).toMatchObject({
        code: 'QueueUnavailableError',
        cause: { message: expect.stringContaining('WRONGPASS') },
      })
      expect(inspect(error, { depth: 9 })).not.toContain(secret)
    } finally {
      await redis.stop()
    }
  })
})

describe('payloads arrive as JSON writes them', () => {
  const isDangerous = /has the key __proto__ or constructor\.prototype$/
  test.each<[what: string, payload: unknown, arrives: unknown]>([
    [
      'names of prototypes, but not as keys',
      { name: '__proto__', prototype: { of: 1 } },
      { name: '__proto__', prototype: { of: 1 } },
    ],
    ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['toJSON', { toJSON: () => ({ own: 1 }) }, { own: 1 }],
    ['half of a pair of surrogates', 'a\ud800b', 'a\ud800b'],
    ['no number', [Number.NaN, Number.POSITIVE_INFINITY, -0], [null, null, 0]],
    ['a map, a set and bytes', [new Map([[1, 2]]), new Set([1]), new Uint8Array(2)], [{}, {}, { 0: 0, 1: 0 }]],
    ['five megabytes', 'x'.repeat(5_000_000), 'x'.repeat(5_000_000)],
  ])('%s', async (_what, payload, arrives) => {
    const queue = memoryQueue<unknown>(freshName('payload'))
    const seen: unknown[] = []
    await queue.subscribe((one) => void seen.push(one))
    await queue.publish(payload)
    await queue.drained()
    expect(seen).toEqual([arrives])
  })

  test.each<[what: string, payload: unknown, why: RegExp]>([
    ['a toJSON that gives nothing', { toJSON() {} }, /an object whose toJSON returns undefined/],
    [
      'a toJSON that throws',
      {
        toJSON() {
          throw 'not an error'
        },
      },
      /cannot be written as JSON: not an error/,
    ],
    ['its own __proto__', JSON.parse('{"__proto__":{"admin":true}}'), isDangerous],
    ['a __proto__ within', JSON.parse('[{"a":{"__proto__":{"admin":true}}}]'), isDangerous],
    ['the prototype of its constructor', JSON.parse('{"constructor":{"prototype":{"admin":true}}}'), isDangerous],
    ['a toJSON that makes __proto__', { toJSON: () => JSON.parse('{"__proto__":1}') }, isDangerous],
    ['a getter that throws', Object.defineProperty({}, 'x', { enumerable: true, get: () => BigInt('x') }), /as JSON/],
  ])('%s is refused', async (_what, payload, why) => {
    const queue = memoryQueue<unknown>(freshName('refused'))
    await expect(queue.publish(payload)).rejects.toMatchObject({
      code: 'QueuePayloadError',
      message: expect.stringMatching(why),
    })
  })
})

describe('in memory', () => {
  test('a message without a id never has the id that another was given', async () => {
    const probe = await memoryQueue<number>(freshName('probe')).publish(0)
    const queue = memoryQueue<string>(freshName('ids'))
    const next = `m${Number(probe.id.slice(1)) + 2}`
    await queue.publish('named', { id: next })
    const ids = await queue.publishMany(['a', 'b', 'c'])
    expect(new Set([next, ...ids.map(({ id }) => id)]).size).toBe(4)
    const seen: string[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await queue.drained()
    expect(seen).toEqual(['named', 'a', 'b', 'c'])
  })

  test('a number is an id that no message has without having been given it', async () => {
    const queue = memoryQueue<string>(freshName('numbers'))
    const { id } = await queue.publish('unnamed')
    // The number of an order, for example.
    await queue.publish('named', { id: id.replace(/\D/g, '') })
    expect(await queue.counts()).toMatchObject({ waiting: 2 })
  })

  test('an id with a ttl is taken for that time, whatever the clock of the machine is set to', async () => {
    using clock = testClock('2030-01-01T00:00:00Z')
    const queue = memoryQueue<string>(freshName('taken'))
    const seen: string[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    const publish = async (payload: string) => {
      await queue.publish(payload, { id: { value: 'order 7', ttl: 60_000 } })
      await queue.drained()
      return seen.splice(0)
    }
    expect(await publish('first')).toEqual(['first'])
    for (const time of ['2030-01-02T00:00:00Z', '2029-01-01T00:00:00Z']) {
      await clock.set(time)
      expect(await publish('again')).toEqual([])
    }
    await clock.advance(60_000)
    expect(await publish('later')).toEqual(['later'])
  })

  test('whatever a handler throws, the attempt has failed and the next message is handled', async () => {
    const queue = memoryQueue<number>(freshName('thrown'))
    const unreadable = {
      toString() {
        throw new Error('not as text')
      },
    }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const odd = Object.assign(new Error('odd'), { code: Object.create(null) })
    const thrown = [Object.create(null), unreadable, undefined, Symbol('s'), proxy, odd]
    const dead: string[] = []
    const handler = (index: number) => {
      throw thrown[index]
    }
    await queue.subscribe(handler, { onDead: (_index, { message }) => void dead.push(message) })
    await queue.publishMany([0, 1, 2, 3, 4, 5])
    await queue.drained()
    const unknown = 'something that cannot be written as text'
    expect(dead).toEqual([unknown, unknown, 'undefined', 'Symbol(s)', unknown, 'odd'])
  })

  test('waiting for the end of a queue ends when it is cleared', async () => {
    const queue = memoryQueue<number>(freshName('cleared'))
    await queue.publish(1)
    await queue.publish(2, { delay: 60_000 })
    const drained = queue.drained()
    queue.clear()
    await drained
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0, oldest: 0 })
  })

  test('many priorities are kept in order, and cost no more than their number', async () => {
    const queue = memoryQueue<number>(freshName('priorities'))
    const ranks = [...Array(20_000).keys()].map((i) => (i * 7919) % 20_000)
    await queue.publishMany(ranks, (priority) => ({ priority }))
    const seen: number[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await until(() => seen.length === ranks.length, 'all')
    expect(seen).toEqual([...Array(20_000).keys()])
  })

  test('an exponential backoff that no timer could keep waits as long as one can', async () => {
    const queue = memoryQueue<number>(freshName('long'))
    let ran = 0
    await queue.subscribe(() => {
      ran++
      throw new Error('again')
    })
    await queue.publish(1, { attempts: 3, backoff: { type: 'exponential', delay: 1 } })
    await queue.drained()
    expect(ran).toBe(3)
    const warned = vi.spyOn(process, 'emitWarning')
    // The second attempt is due after 2^31 ms, which a timer takes for 1.
    await queue.publish(1, { attempts: 2, backoff: { type: 'exponential', delay: 2_147_483_647 } })
    await until(async () => (await queue.counts()).delayed === 1, 'the second attempt to wait')
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
    queue.clear()
  })
})

describe('names', () => {
  const longest = 'x'.repeat(300)
  test.each([
    ['memory', memoryQueue, ['a:b', 'a/b', 'a b', '\u540d\u524d', '__proto__', longest], ['', 'nul\0', 'half \ud800']],
    ['bullmq', bullmqQueue, ['a/b', 'a b', '\u540d\u524d', '__proto__', longest], ['', 'a:b', 'nul\0', 'half \ud800']],
    [
      'pgboss',
      pgbossQueue,
      ['a/b', 'a.b', '-', longest],
      ['', 'a:b', 'a b', "o'k", '{x}', '\u540d\u524d', 'a\nb', '__proto__', 'constructor', 'nul\0', 'half \ud800'],
    ],
    ['sqs', sqsQueue, ['a:b', 'a b'], ['', 'nul\0', 'half \ud800']],
  ] as [
    string,
    (name: string) => { name: string },
    string[],
    string[],
  ][])('of %s are taken as they are, or refused where they are declared', (_kind, make, good, bad) => {
    for (const name of good) expect(make(name).name).toBe(name)
    for (const name of bad) {
      expect(() => make(name), JSON.stringify(name)).toThrow(
        expect.objectContaining({ code: 'OptionError', message: expect.stringContaining('the name of a queue') }),
      )
    }
  })

  test('that SQS has not are refused before it is asked, unless they stand for an address', async () => {
    const sent: object[] = []
    const client = {
      async send(command: object) {
        sent.push(command)
        return { MessageId: 'm', Attributes: {} }
      },
      destroy() {},
    }
    defineQueueConfiguration({ sqs: { client, queueUrls: { 'my orders': 'http://127.0.0.1:1/orders' } } })
    for (const name of ['a b', 'x'.repeat(81), 'a/b', 'toString()']) {
      await expect(sqsQueue(name).publish(1)).rejects.toMatchObject({
        code: 'OptionError',
        message: expect.stringContaining('sqs.queueUrls'),
      })
    }
    expect(sent).toEqual([])
    expect(await sqsQueue('my orders').publish(1)).toEqual({ id: 'm' })
  })
})

describe('options of publish that no engine understands are refused before it is called', () => {
  test.each([
    ...[{ id: '' }, { id: { value: 'a' } }, { id: 17 }, { lifo: 'yes' }, { lifo: true, priority: 1 }],
    ...[{ removeOnComplete: 'all' }],
    ...[
      null,
      {},
      { key: 'k' },
      { every: 100 },
      { key: '', every: 100 },
      { key: 'k', every: 0 },
      { key: 'k', every: -5 },
    ]
      .concat({ key: 'k', every: 1.5 }, { key: 'k', every: 100, pattern: '* * * * *' } as never)
      .map((repeat) => ({ repeat })),
  ])('BullMQ: %j', async (options) => {
    // Nothing answers there: an option that is not refused would lead to QueueUnavailableError.
    defineQueueConfiguration({ bullmq: { connection: 'redis://127.0.0.1:1', publishTimeout: 100 } })
    const [name] = Object.keys(options)
    await expect(bullmqQueue<number>('options').publish(1, options as never)).rejects.toMatchObject({
      code: 'OptionError',
      message: expect.stringContaining(`publish.${name}`),
    })
  })

  test('a key of repeat that is mistyped is pointed at', async () => {
    const repeat = { kee: 'k', every: 100 }
    await expect(bullmqQueue<number>('options').publish(1, { repeat } as never)).rejects.toThrow(/Did you mean "key"/)
  })

  test.each([
    ...[
      'slow',
      -1,
      { type: 'linear' },
      { delay: 10 },
      { type: 'fixed', delay: 'soon' },
      { type: 'fixed', wait: 1 },
      -5,
    ].map((backoff) => ({ backoff })),
    ...[
      { attempts: 0 },
      { attempts: 1.5 },
      { attempts: '3' },
      { retryLimit: 3 },
      { delay: -1 },
      { priority: 1.5 },
      { id: 1 },
      { repeat: {} },
      { lifo: true },
    ],
  ])('memory: %j', async (options) => {
    const [name] = Object.keys(options)
    const queue = memoryQueue<number>(freshName('options'))
    await expect(queue.publish(1, options as never)).rejects.toMatchObject({
      code: 'OptionError',
      message: expect.stringContaining(`publish.${name}`),
    })
    expect(await queue.counts()).toMatchObject({ waiting: 0 })
  })

  test.each([
    ...[
      { retryBackoff: 'yes' },
      { startAfter: Number.NaN },
      { startAfter: '' },
      { priority: 1.5 },
      { singletonKey: 1 },
    ],
    ...[{ retryLimit: -1 }, { expireInSeconds: 0 }, { deadLetter: '' }, { attempts: 0 }],
  ])('pg-boss: %j', async (options) => {
    const [name] = Object.keys(options)
    await expect(pgbossQueue<number>('options').publish(1, options as never)).rejects.toMatchObject({
      code: 'OptionError',
      message: expect.stringContaining(`publish.${name}`),
    })
  })

  test.each([
    ...[{ DelaySeconds: 901 }, { DelaySeconds: 1.5 }, { MessageGroupId: '' }, { MessageDeduplicationId: 1 }],
    ...[
      { MessageAttributes: 'kind' },
      { MessageAttributes: { kind: 'a' } },
      { priority: 1 },
      { delay: 900_001 },
      { id: 'a' },
    ],
  ])('SQS: %j', async (options) => {
    const [name] = Object.keys(options)
    await expect(sqsQueue<number>('options').publish(1, options as never)).rejects.toMatchObject({
      code: 'OptionError',
      message: expect.stringContaining(`publish.${name}`),
    })
  })

  test('all that is wrong is in one error, and a text that may be a secret is not shown', async () => {
    const options = { attempt: 3, delay: 'soon', id: '' }
    const failure = memoryQueue<number>(freshName('options')).publish(1, options as never)
    await expect(failure).rejects.toThrow(
      '3 options are wrong:\n- Unknown option "publish.attempt". Did you mean "attempts"? Known options: attempts, backoff, delay, priority, id, timeout, expireIn, repeat\n- the option "publish.delay" is "soon"; it takes milliseconds, 0 or more\n- the option "publish.id" is an empty string; it takes text, or { value, ttl } with milliseconds',
    )
    const text = { delay: 'redis://me:hunter2@host' }
    await expect(memoryQueue<number>(freshName('options')).publish(1, text as never)).rejects.not.toThrow(/hunter2/)
  })

  test('an engine of your own takes options of its own, also when it is called like one of ours', async () => {
    const seen: unknown[] = []
    const pubsub = {
      name: 'memory',
      publish: async (_topic: string, _payload: unknown, options?: object) => {
        seen.push(options)
        return { id: '1' }
      },
      subscribe: async () => {},
      unsubscribe: async () => {},
    }
    await createQueue<number, { anything: string }>(freshName('own'), pubsub).publish(1, { anything: 'goes' })
    expect(seen).toEqual([{ anything: 'goes' }])
  })

  test('the options of subscribers and of queues are read in the same way', async () => {
    const queue = memoryQueue<number>(freshName('options'))
    const wrong = { concurrency: 0, onDead: 'log', retries: 3 }
    const message =
      /3 options are wrong:\n- Unknown option "subscribe.retries".*\n- the option "subscribe.concurrency" is 0; it takes a whole number from 1 to 10000\n- the option "subscribe.onDead" is a string \(not shown\); it takes a function/
    await expect(queue.subscribe(() => {}, wrong as never)).rejects.toThrow(message)
    expect(() => memoryQueue('options', { shema: {} } as never)).toThrow(
      'Unknown option "memoryQueue.shema". Did you mean "schema"?',
    )
    expect(() => sqsQueue('options', null as never)).toThrow('the option "sqsQueue" is null; it takes an object')
  })

  test.each([
    ['retryLimit', { attempts: 2, retryLimit: 1 }],
    ['retryDelay', { backoff: 1000, retryDelay: 1 }],
    ['startAfter', { delay: 1, startAfter: 1 }],
  ])('pg-boss: %s beside the option of every engine that says the same', async (name, options) => {
    await expect(pgbossQueue<number>('options').publish(1, options)).rejects.toMatchObject({
      code: 'OptionError',
      message: expect.stringMatching(new RegExp(`publish\\.${name}.*nothing beside`)),
    })
  })
})
