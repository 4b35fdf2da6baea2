import {
  defineQueueConfiguration,
  type PublishOptions,
  pgbossQueue,
  type QueueConfig,
  QueueService,
  queue,
  RouteCollection,
  Server,
  sqsQueue,
} from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { ownEngine } from '../../contracts/portable/index.mjs'
import { memoryLogger } from '../../support/kernel.ts'
import { freshName } from '../../support/queues.ts'
import { sqsCredentials } from '../../support/sqs.ts'

// Each test has a module of its own in mind: a queue stays declared for the process, so the ones here can be on any engine but for the last tests.

afterEach(async () => {
  delete process.env.QUEUE_ENGINE
  await QueueService.stop()
})

const boot = async (config: QueueConfig) => {
  const server = new Server({
    ...{ logger: memoryLogger(), router: new RouteCollection(), gracefulShutdown: false },
    background: { queues: { config } },
  })
  try {
    await server.ready()
  } catch (error) {
    await server.close().catch(() => {})
    throw error
  }
  return server
}

describe('the engine of queue(name)', () => {
  test('is that of the configuration: by name, then the default, then QUEUE_ENGINE, then memory', async () => {
    const [named, other] = [queue(freshName('named')), queue(freshName('other'))]
    const kinds = async (config: QueueConfig) => {
      const server = await boot(config)
      const both = [named.for(server).kind, other.for(server).kind]
      await server.close()
      return both
    }
    const own = ownEngine()
    expect(await kinds({})).toEqual(['memory', 'memory'])
    expect(await kinds({ own, queues: { [named.name]: 'own' } })).toEqual(['own', 'memory'])
    expect(await kinds({ own, queues: { default: 'own', [named.name]: 'memory' } })).toEqual(['memory', 'own'])
    process.env.QUEUE_ENGINE = 'own'
    expect(await kinds({ own })).toEqual(['own', 'own'])
    expect(await kinds({ own, queues: { default: 'memory' } })).toEqual(['memory', 'memory'])
    process.env.QUEUE_ENGINE = 'bullmq'
    expect(await kinds({})).toEqual(['bullmq', 'bullmq'])
  })

  test('of a script is that of the variable as well', async () => {
    process.env.QUEUE_ENGINE = 'own'
    defineQueueConfiguration({ own: ownEngine() })
    const orders = queue<number>(freshName('script'))
    const seen: number[] = []
    await orders.subscribe((n) => void seen.push(n))
    await QueueService.run()
    await orders.publish(1, { attempts: 2 })
    await expect.poll(() => seen).toEqual([1])
    expect(orders.kind).toBe('own')
  })

  test('of a repetition that begins before its server is that of the server', async () => {
    const ticks = queue<string>(freshName('early'))
    await ticks.publish('x', { repeat: { key: 'a', every: 50 } })
    const own = ownEngine()
    const server = await boot({ own, queues: { default: 'own' } })
    await expect.poll(async () => (await own.counts!(ticks.name)).waiting).toBeGreaterThan(1)
    expect(await ticks.stopRepeat('a')).toBe(true)
    await server.close()
  })

  test('must exist', async () => {
    await expect(boot({ queues: { default: 'rabbit' } })).rejects.toThrow(
      /queues\.default" is "rabbit"; it takes memory, bullmq, pgboss, sqs, or/s,
    )
    for (const config of [
      { queues: { default: 'settings' }, settings: { publishTimeout: 100 } },
      { queues: { default: 'queues' } },
    ])
      await expect(boot(config)).rejects.toThrow(/queues\.default.* takes memory, bullmq, pgboss, sqs, or/s)
    process.env.QUEUE_ENGINE = 'bulmq'
    await expect(boot({})).rejects.toThrow(
      /queues\.default \(QUEUE_ENGINE of the environment\)" is "bulmq"; it takes memory, bullmq/s,
    )
    delete process.env.QUEUE_ENGINE
    await expect(boot({ queues: { nowhere: 'memory' } })).rejects.toThrow(
      /no imported module makes with queue\("nowhere"\)/,
    )
  })
})

test('a factory of one engine refuses at once what it cannot have', () => {
  const name = freshName('refused')
  expect(() => sqsQueue(name, { priority: 1 } as object)).toThrow(/sqsQueue\.priority.*SQS has no priorities/s)
  expect(() => sqsQueue(name, { delay: 900_001 })).toThrow(/sqsQueue\.delay.*900000/s)
  expect(() => sqsQueue(name, { backoff: 43_200_001 })).toThrow(/sqsQueue\.backoff.*43200000/s)
  expect(() => pgbossQueue(name, { timeout: 90_000_000 })).toThrow(
    /pgbossQueue\.timeout.*pg-boss gives a job to another worker after a day/s,
  )
  expect(() => pgbossQueue(name, { attempts: 2, retryLimit: 1 })).toThrow(/retryLimit.*"attempts"/s)
  expect(() => queue(name, { retryLimit: 1 } as object)).toThrow(/Unknown option "queue\.retryLimit"/)
  expect(() => queue(name, { id: 'x' } as object)).toThrow(/Unknown option "queue\.id"/)
  expect(() => queue(name, { version: 2 })).toThrow(/queue\.upgrade/)
})

test('an id in SQS needs a FIFO queue and its five minutes, and a repetition that or locks', async () => {
  defineQueueConfiguration({
    sqs: { region: 'eu-west-1', endpoint: 'http://127.0.0.1:1', credentials: sqsCredentials, publishTimeout: 500 },
  })
  const [standard, fifo] = [sqsQueue<number>(freshName('standard')), sqsQueue<number>(`${freshName('fifo')}.fifo`)]
  const publish = (queue: typeof fifo, options: PublishOptions) => queue.publish(1, options as object)
  const repeat = { key: 'x', every: 60_000 }
  const id = { value: 'x', ttl: 300_000 }
  await expect(publish(standard, { id })).rejects.toThrow(/publish\.id.*\.fifo/s)
  await expect(publish(standard, { repeat })).rejects.toThrow(/publish\.repeat.*"locks"/s)
  await expect(publish(fifo, { id: 'x' })).rejects.toThrow(/publish\.id.*300000/s)
  await expect(publish(fifo, { id })).rejects.not.toMatchObject({ code: 'OptionError' })
  await expect(fifo.publish(1, { repeat })).resolves.toEqual({ id: 'x' })
  expect(await fifo.stopRepeat('x')).toBe(true)
})

test('an engine of the application is asked for nothing that it does not name, also not for what its carrier would have to carry', async () => {
  const orders = queue<number>(freshName('plain'))
  const { supports: _, ...plain } = ownEngine()
  const server = await boot({ plain, queues: { default: 'plain' } })
  const refused: PublishOptions[] = [
    ...[{ attempts: 2 }, { backoff: 5 }, { delay: 5 }, { priority: 1 }, { id: 'x' }, { timeout: 5 }, { expireIn: 5 }],
  ]
  for (const options of refused)
    await expect(orders.for(server).publish(1, options), JSON.stringify(options)).rejects.toMatchObject({
      code: 'OptionError',
      message: expect.stringContaining('"supports"'),
    })
  await orders.for(server).publish(1)
  await server.close()
})

describe('at the boot of a server', () => {
  test.each<[string, object, QueueConfig, RegExp]>([
    ['an option that its engine cannot have', { delay: 2_000_000 }, { sqs: {} }, /queue\.delay.*900000/s],
    ['a priority in SQS', { priority: 1 }, { sqs: {} }, /queue\.priority.*SQS has no priorities/s],
  ])('%s is refused', async (_what, options, config, message) => {
    const { name } = queue(freshName('boot'), options)
    await expect(boot({ ...config, queues: { default: 'sqs' } })).rejects.toThrow(message)
    // Of several with the same name, the newest counts.
    queue(name)
  })

  test('a name that its engine cannot have is refused', async () => {
    queue(`${freshName('name')} with spaces`)
    const error = { code: 'PluginSetupError', message: expect.stringContaining('name of a queue of pg-boss') }
    await expect(boot({ queues: { default: 'pgboss' } })).rejects.toMatchObject(error)
    process.env.QUEUE_ENGINE = 'pgboss'
    await expect(boot({})).rejects.toMatchObject(error)
  })
})
