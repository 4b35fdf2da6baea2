import {
  createQueue,
  defineQueueConfiguration,
  type GenericPubSub,
  memoryQueue,
  QueueService,
  RouteCollection,
  Server,
  type ServerOptions,
} from 'framework'
import { queues } from 'framework/plugins'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type Entry, memoryLogger, pause } from '../../support/kernel.ts'
import { freshName, gate, until } from '../../support/queues.ts'

const open: { close(): Promise<void> }[] = []
let log: Entry[]
beforeEach(() => {
  log = []
})
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
  await QueueService.stop()
})

function makeServer(options: { background?: object; plugins?: object; closeTimeout?: number }) {
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    gracefulShutdown: false,
    drainWindow: 0,
    router: new RouteCollection(),
    logger: memoryLogger(log),
    ...options,
  } as ServerOptions)
  open.push(server)
  return server
}

const run = { background: { queues: { config: { memory: {} }, run: true } } }

describe('with a server', () => {
  test('workers start when it listens, never under inject, and end with it', async () => {
    const queue = memoryQueue<number>(freshName('server'))
    const seen: number[] = []
    const server = makeServer(run)
    server.post('/', async () => queue.publish(1))
    await queue.subscribe((payload) => void seen.push(payload))
    ;(await server.inject.post('/')).assertStatus(200)
    await pause(20)
    expect(seen).toEqual([])
    expect(await queue.counts()).toMatchObject({ waiting: 1 })

    await server.listen()
    await queue.drained()
    expect(seen).toEqual([1])
    await queue.publish(2)
    await queue.drained()
    await server.close()
    await queue.publish(3)
    await pause(20)
    expect(seen).toEqual([1, 2])
  })

  test('messages in memory that wait when it closes are named in the log', async () => {
    const queue = memoryQueue<number>(freshName('left'))
    const server = makeServer(run)
    await server.listen()
    await queue.publishMany([1, 2], { delay: 60_000 })
    await server.close()
    expect(log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toContain(
      `2 messages are left in the queue "${queue.name}", which is in memory, and are lost with the server`,
    )
    queue.clear()
    const other = makeServer(run)
    await other.listen()
    await queue.publish(1, { delay: 60_000 })
    await other.close()
    expect(log.map(({ message }) => message)).toContain(
      `1 message is left in the queue "${queue.name}", which is in memory, and is lost with the server`,
    )
  })

  test('a subscriber that was at work before the server came waits for it', async () => {
    const queue = memoryQueue<number>(freshName('before'))
    const seen: number[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await queue.publish(1)
    await queue.drained()
    const server = makeServer(run)
    await server.ready()
    await queue.publish(2)
    await pause(20)
    expect(seen).toEqual([1])
    await server.listen()
    await queue.drained()
    expect(seen).toEqual([1, 2])
  })

  test('has in work no more than its concurrency while a server takes it over, whose start does not wait', async () => {
    const queue = memoryQueue<number>(freshName('over'))
    const first = gate()
    let now = 0
    let most = 0
    await queue.subscribe(async (payload) => {
      most = Math.max(most, ++now)
      if (payload === 1) await first.opened
      now--
    })
    await queue.publishMany([1, 2, 3])
    await until(async () => (await queue.counts()).active === 1, 'the handler')
    await makeServer(run).listen()
    await pause(20)
    expect([now, await queue.counts()]).toMatchObject([1, { active: 1, waiting: 2 }])
    first.open()
    await queue.drained()
    expect(most).toBe(1)
  })

  test('the options of a batch may be one object that its function changes', async () => {
    const queue = memoryQueue<number>(freshName('changed'))
    const options = { id: '' }
    const ids = await queue.publishMany([1, 2, 3], (n) => Object.assign(options, { id: `job ${n}` }))
    expect(ids).toEqual([{ id: 'job 1' }, { id: 'job 2' }, { id: 'job 3' }])
    expect(await queue.counts()).toMatchObject({ waiting: 3 })
    queue.clear()
  })

  test('closing waits once for a handler that hangs, and the next server works beside it', async () => {
    const queue = memoryQueue<number>(freshName('left'))
    const hung = gate()
    const seen: number[] = []
    await queue.subscribe(async (payload) => {
      seen.push(payload)
      if (payload === 1) await hung.opened
    })
    const first = makeServer({ ...run, closeTimeout: 200 })
    await first.listen()
    await queue.publish(1)
    await until(() => seen.length === 1, 'the handler')
    await first.close()
    const second = makeServer(run)
    await second.listen()
    await queue.publish(2)
    await until(() => seen.length === 2, 'the next message')
    await second.close()
    expect(log.filter(({ message }) => message?.includes('still running after'))).toHaveLength(1)
    hung.open()
  })

  test('without run it only publishes', async () => {
    const queue = memoryQueue<number>(freshName('publisher'))
    let ran = false
    const server = makeServer({ plugins: { queues: { config: { memory: {} } } } })
    await server.listen()
    await queue.subscribe(() => {
      ran = true
    })
    await queue.publish(1)
    await pause(20)
    expect(ran).toBe(false)
  })

  test('close lets handlers finish, and their messages arrive', async () => {
    const queue = memoryQueue<string>(freshName('drain'))
    const after = memoryQueue<string>(freshName('after'))
    const done: string[] = []
    const server = makeServer(run)
    await server.listen()
    let begun!: () => void
    const began = new Promise<void>((resolve) => {
      begun = resolve
    })
    let release!: () => void
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await queue.subscribe(async (payload) => {
      begun()
      await released
      await after.publish(payload)
      done.push(payload)
    })
    await queue.publishMany(['first', 'second'])
    await began
    const closed = server.close()
    setTimeout(release, 200)
    await closed
    expect(done).toEqual(['first'])
    expect(await queue.for(server).counts()).toMatchObject({ waiting: 1, active: 0 })
    expect(await after.for(server).counts()).toMatchObject({ waiting: 1 })
  })

  test('a handler that does not end keeps close no longer than its time', async () => {
    const queue = memoryQueue<number>(freshName('hung'))
    const server = makeServer({ ...run, closeTimeout: 1000 })
    await server.listen()
    let release!: () => void
    const hung = new Promise<void>((resolve) => {
      release = resolve
    })
    await queue.subscribe(() => hung)
    await queue.publish(1)
    await until(async () => (await queue.counts()).active === 1, 'the handler')
    const start = performance.now()
    await server.close()
    expect(performance.now() - start).toBeLessThan(20_000)
    expect(log).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: { plugin: 'queues', running: 1, queues: [queue.name] },
        message: expect.stringMatching(
          /^a handler of a queue was still running after \d+ ms; the messages will not be delivered again: their queues are in memory$/,
        ),
      }),
    )
    release()
  })

  test('a handler that fails after close no longer waits for it does not put its message back', async () => {
    const queue = memoryQueue<number>(freshName('late'))
    const server = makeServer({ ...run, closeTimeout: 1000 })
    await server.listen()
    const hung = gate()
    const dead: number[] = []
    await queue.subscribe(
      async () => {
        await hung.opened
        throw new Error('late')
      },
      { onDead: (payload) => void dead.push(payload) },
    )
    await queue.publish(1, { attempts: 3 })
    await until(async () => (await queue.counts()).active === 1, 'the handler')
    await server.close()
    hung.open()
    await until(() => dead.length === 1, 'the end of the message')
    expect(await queue.for(server).counts()).toMatchObject({ waiting: 0, delayed: 0 })
    expect(queue.for(server).dead).toMatchObject([{ payload: 1, attempts: 1 }])
  })

  test.each([
    'errorHandler',
    'onDead',
  ])('%s that never ends keeps its place no longer than the time limit', async (which) => {
    const never = () => new Promise<void>(() => {})
    const queue = memoryQueue<number>(freshName('stuck'))
    const config = { memory: which === 'errorHandler' ? { errorHandler: never } : {} }
    await makeServer({ background: { queues: { config, run: true } } }).listen()
    const seen: number[] = []
    const handler = (payload: number) => {
      seen.push(payload)
      throw new Error('no')
    }
    await queue.subscribe(handler, { timeout: 20, ...(which === 'onDead' && { onDead: never }) })
    await queue.publishMany([1, 2])
    await until(() => seen.length === 2, 'the second message')
    expect(log).toContainEqual(expect.objectContaining({ message: expect.stringMatching(/ itself failed$/) }))
  })

  test('the configuration of a server is its own, until it closes; beside one of the process it is an error', async () => {
    const queue = memoryQueue<number>(freshName('owned'))
    const [first, second] = [1, 2].map((maxSize) =>
      makeServer({ background: { queues: { config: { memory: { maxSize } } } } }),
    ) as [Server, Server]
    await Promise.all([first.ready(), second.ready()])
    await expect(queue.for(first).publishMany([1, 2])).rejects.toMatchObject({ code: 'QueueFullError' })
    await queue.for(second).publishMany([1, 2])
    expect(() => defineQueueConfiguration({ memory: {} })).toThrow(/already configured, until that server has closed/)
    await first.close()
    await second.close()
    defineQueueConfiguration({ memory: {} })
    await expect(makeServer(run).ready()).rejects.toMatchObject({
      cause: { code: 'QueueConfigurationError', message: expect.stringContaining('until QueueService.stop()') },
    })
  })

  test('the configuration of the process outlives its servers', async () => {
    defineQueueConfiguration({ memory: { maxSize: 1 } })
    const queue = memoryQueue<number>(freshName('process'))
    const server = makeServer({ background: { queues: {} } })
    await server.listen()
    await server.close()
    await expect(queue.publishMany([1, 2])).rejects.toMatchObject({ code: 'QueueFullError' })
  })

  test('a subscriber that is declared while its server closes waits for the next', async () => {
    const slow = memoryQueue<number>(freshName('closing'))
    const later = memoryQueue<number>(freshName('later'))
    const seen: number[] = []
    const server = makeServer(run)
    await server.listen()
    let closed: Promise<void> | undefined
    await slow.subscribe(async () => {
      closed = server.close()
      await pause(50)
      await later.subscribe((payload) => void seen.push(payload))
    })
    await slow.publish(1)
    await until(() => closed !== undefined, 'the handler')
    await closed
    await later.publish(1)
    await pause(20)
    expect(seen).toEqual([])
    await makeServer(run).listen()
    await later.drained()
    expect(seen).toEqual([1])
  })

  test('QueueService.stop() beside a server takes nothing from it', async () => {
    const queue = memoryQueue<number>(freshName('beside'))
    const seen: number[] = []
    await makeServer(run).listen()
    await queue.subscribe((payload) => void seen.push(payload))
    await QueueService.run()
    await QueueService.stop()
    expect(() => defineQueueConfiguration({ memory: {} })).toThrow(/already configured/)
    await queue.publish(1)
    await queue.drained()
    expect(seen).toEqual([1])
  })

  test('every form is the same plugin, and two of them are an error', async () => {
    const forms = [
      makeServer(run),
      makeServer({ plugins: { queues: { run: true } } }),
      makeServer({ plugins: [queues({ run: true })] }),
      makeServer({ plugins: { queues: true } }),
    ]
    for (const server of forms) expect(server.services.queues).toBeInstanceOf(QueueService)
    expect(() => makeServer({ ...run, plugins: { queues: true } })).toThrow(/background\.queues/)
  })

  test.each([
    [{ run: 'yes' }, 'queues.run" is "yes"; it takes true or false'],
    [{ rum: true }, 'Did you mean "run"'],
    [{ config: [] }, 'queues.config" is an empty array; it takes an object with queues, memory, bullmq, pgboss, sqs'],
    [{ config: { memory: { maxSize: 0 } } }, 'queues.config.memory.maxSize" is 0'],
    [{ config: { memory: { errorHandler: 'x' } } }, 'queues.config.memory.errorHandler'],
    [{ config: { memry: {} } }, 'Unknown option "plugins.queues.config.memry". Did you mean "memory"?'],
    [{ config: { bullmq: { connection: 'localhost' } } }, 'queues.config.bullmq.connection'],
    [{ config: { bullmq: { conection: {} } } }, 'Did you mean "connection"'],
    [{ config: { bullmq: { connection: { hots: 'a' } } } }, 'queues.config.bullmq.connection.hots"'],
    [{ config: { pgboss: { connectionString: 'mysql://x' } } }, 'queues.config.pgboss.connectionString'],
    [{ config: { sqs: { waitTimeSeconds: 21 } } }, 'queues.config.sqs.waitTimeSeconds'],
    [{ config: { sqs: { queueUrls: { orders: 5 } } } }, 'queues.config.sqs.queueUrls.orders'],
    [{ config: { mine: 3 } }, 'queues.config.mine'],
    [{ config: { mine: { publishTimout: 3 } } }, 'Did you mean "publishTimeout"?'],
  ])('a wrong option is reported where the plugin is registered: %j', (options, message) => {
    const thrown = expect.objectContaining({ code: 'OptionError', message: expect.stringContaining(message) })
    expect(() => makeServer({ plugins: { queues: options as never } })).toThrow(thrown)
  })

  test('wrong options of the server option background.queues have its path, those of a call that of the call', () => {
    const config = { memory: { maxSize: 0 }, memry: {} }
    expect(() => makeServer({ background: { queues: { config } } })).toThrow(
      /^2 options are wrong:\n- the option "background\.queues\.config\.memory\.maxSize" is 0; .*\n- Unknown option "background\.queues\.config\.memry"/,
    )
    expect(() => defineQueueConfiguration(config)).toThrow('"queues.config.memory.maxSize" is 0')
  })

  test('an engine of your own may have a name that is close to a kind, once it has a queue or where it is given', async () => {
    const engine: GenericPubSub = {
      name: 'memory2',
      publish: async () => ({ id: '1' }),
      subscribe: async () => {},
      unsubscribe: async () => {},
    }
    const config = { memory2: { publishTimeout: 100 } }
    expect(() => defineQueueConfiguration(config)).toThrow('Did you mean "memory"?')
    defineQueueConfiguration({ memory2: engine })
    await QueueService.stop()
    createQueue('close', engine)
    expect(() => defineQueueConfiguration(config)).not.toThrow()
  })

  test('no password of the configuration is listed with the plugin', () => {
    const server = makeServer({
      plugins: {
        queues: {
          config: {
            bullmq: { connection: { host: 'db', password: 'hunter2' } },
            pgboss: { connectionString: 'postgres://user:hunter2@db/x', options: { password: 'hunter2' } },
            sqs: { credentials: { secretAccessKey: 'hunter2' } },
            mine: { errorHandler() {} },
          },
        },
      },
    })
    const listed = JSON.stringify(server.plugins)
    expect(listed).not.toContain('hunter2')
    expect(listed).toContain('"host":"db"')
  })

  test('a queue without its configuration fails publish, and the start of its workers', async () => {
    const { bullmqQueue } = await import('framework')
    const queue = bullmqQueue<number>('unconfigured')
    await expect(queue.publish(1)).rejects.toMatchObject({
      code: 'QueueNotConfiguredError',
      message: expect.stringContaining('defineQueueConfiguration({ bullmq'),
    })
    const handle = await queue.subscribe(() => {})
    await expect(QueueService.run()).rejects.toMatchObject({ code: 'QueueNotConfiguredError' })
    const server = makeServer(run)
    await expect(server.listen()).rejects.toMatchObject({ cause: { code: 'QueueNotConfiguredError' } })
    await handle.unsubscribe()
  })

  test('failures go to the log of the server, with the queue and the attempt', async () => {
    const queue = memoryQueue<number>(freshName('logged'))
    const server = makeServer(run)
    await server.listen()
    await queue.subscribe(() => {
      throw new Error('no')
    })
    await queue.publish(1, { attempts: 2 })
    await queue.drained()
    expect(log.filter(({ level }) => level === 'error')).toEqual(
      [1, 2].map((attempt) =>
        expect.objectContaining({
          fields: expect.objectContaining({ plugin: 'queues', queue: queue.name, attempt }),
          message: expect.stringMatching(attempt === 2 ? /attempt 2 of 2; no attempts are left/ : /attempt 1 of 2$/),
        }),
      ),
    )
  })

  test('an error handler, or onDead, that fails is logged and changes nothing', async () => {
    const queue = memoryQueue<number>(freshName('bad-handler'))
    const fails = () => {
      throw new Error('worse')
    }
    const server = makeServer({ background: { queues: { config: { memory: { errorHandler: fails } }, run: true } } })
    await server.listen()
    await queue.subscribe(fails, { onDead: () => Promise.reject(new Error('worst')) })
    await queue.publish(1)
    await queue.drained()
    expect(queue.dead).toMatchObject([{ payload: 1, attempts: 1, error: { message: 'worse' } }])
    const messages = log.map(({ message }) => message).join('\n')
    expect(messages).toContain('the error handler of the queue')
    expect(messages).toContain('onDead of the queue')
  })
})

describe('in memory, without a server', () => {
  test('a subscriber works at once, and never inside of publish', async () => {
    const queue = memoryQueue<number>(freshName('alone'))
    const order: string[] = []
    await queue.subscribe(() => void order.push('handler'))
    const published = queue.publish(1).then(() => order.push('published'))
    order.push('called')
    await published
    await queue.drained()
    expect(order[0]).toBe('called')
    expect(order).toHaveLength(3)
  })

  test('drained rejects where no subscriber is at work, and not where one is about to be', async () => {
    const queue = memoryQueue<number>(freshName('idle'))
    await expect(queue.drained()).resolves.toBeUndefined()
    await queue.publishMany([1, 2])
    await expect(queue.drained()).rejects.toMatchObject({
      code: 'QueueIdleError',
      message: expect.stringContaining(`the queue "${queue.name}" will not be drained: 2 messages wait`),
    })
    const seen: number[] = []
    const subscribed = queue.subscribe((payload) => void seen.push(payload))
    await queue.drained()
    expect(seen).toEqual([1, 2])
    // It rejects as well when the last one leaves.
    await queue.publish(3, { delay: 60_000 })
    const waiting = expect(queue.drained()).rejects.toMatchObject({ code: 'QueueIdleError' })
    await (await subscribed).unsubscribe()
    await waiting
    queue.clear()
  })

  test('a subscriber takes the message for which another one was woken that leaves at once', async () => {
    const queue = memoryQueue<number>(freshName('woken'))
    const seen: string[] = []
    const first = await queue.subscribe(() => void seen.push('first'))
    const second = await queue.subscribe(() => void seen.push('second'))
    const published = queue.publish(1)
    await Promise.all([published, first.unsubscribe()])
    await queue.drained()
    expect(seen).toEqual(['second'])
    await second.unsubscribe()
  })

  test('drained waits for messages in progress of an unsubscribed handler, and then rejects for the rest', async () => {
    const queue = memoryQueue<number>(freshName('left'))
    const first = gate()
    const handle = await queue.subscribe(() => first.opened)
    await queue.publishMany([1, 2])
    await until(async () => (await queue.counts()).active === 1, 'the handler')
    await handle.unsubscribe()
    let isOver = false
    const drained = queue.drained().finally(() => {
      isOver = true
    })
    await pause(10)
    expect(isOver).toBe(false)
    first.open()
    await expect(drained).rejects.toMatchObject({ code: 'QueueIdleError' })
    queue.clear()
  })

  test('it is bounded: publish rejects, all or none of a batch', async () => {
    defineQueueConfiguration({ memory: { maxSize: 3 } })
    const queue = memoryQueue<number>(freshName('bounded'))
    await queue.publishMany([1, 2])
    await expect(queue.publishMany([3, 4])).rejects.toMatchObject({ code: 'QueueFullError' })
    await queue.publish(3)
    await expect(queue.publish(4, { delay: 1000 })).rejects.toMatchObject({
      code: 'QueueFullError',
      message: expect.stringContaining('memory.maxSize'),
    })
    queue.clear()
    await expect(queue.publish(4)).resolves.toMatchObject({ id: expect.any(String) })
  })

  test('a hundred thousand messages keep their order, and unsubscribing stops in one tick', async () => {
    const queue = memoryQueue<number>(freshName('many'))
    const all = [...Array(100_000).keys()]
    await queue.publishMany(all)
    let next = 0
    let inOrder = true
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const handle = await queue.subscribe((payload) => {
      inOrder &&= payload === next
      if (++next === 60_000) void handle.unsubscribe()
    })
    await until(() => next === 60_000, 'the unsubscribing')
    await pause(10)
    clearInterval(timer)
    expect(next).toBe(60_000)
    expect(inOrder).toBe(true)
    // Handlers that never wait leave room for the rest of the process.
    expect(ticks).toBeGreaterThan(5)
    expect(await queue.counts()).toMatchObject({ waiting: 40_000, active: 0 })
  })

  test('queues of one name are one, of another name another', async () => {
    const name = freshName('same')
    const seen: number[] = []
    await memoryQueue<number>(name).subscribe((payload) => void seen.push(payload))
    await memoryQueue<number>(name).publish(1)
    await memoryQueue<number>(`${name}-other`).publish(2)
    await memoryQueue(name).drained()
    expect(seen).toEqual([1])
  })

  test('a handler cannot change the payload of the next attempt', async () => {
    const queue = memoryQueue<{ list: number[] }>(freshName('copy'))
    const seen: number[][] = []
    const mine = { list: [1] }
    await queue.subscribe(({ list }) => {
      seen.push([...list])
      list.push(2)
      throw new Error('again')
    })
    const published = queue.publish(mine, { attempts: 2, backoff: 1 })
    mine.list.push(9)
    await published
    await queue.drained()
    expect(seen).toEqual([[1], [1]])
  })

  test.each([5, 'soon', null, [], () => ({})])('publish refuses %j in place of options', async (given) => {
    const queue = memoryQueue<number>(freshName('no-options'))
    const refused = { code: 'OptionError', message: expect.stringContaining('publish') }
    await expect(queue.publish(1, given as never)).rejects.toMatchObject(refused)
    await expect(queue.publishMany([1], (() => given) as never)).rejects.toMatchObject(refused)
    if (typeof given !== 'function') await expect(queue.publishMany([1], given as never)).rejects.toMatchObject(refused)
  })

  test('subscribe refuses invalid arguments', async () => {
    const queue = memoryQueue<number>(freshName('wrong'))
    await expect(queue.subscribe('x' as never)).rejects.toMatchObject({ code: 'OptionError' })
    await expect(queue.subscribe(undefined as never)).rejects.toMatchObject({ code: 'OptionError' })
    await expect(queue.subscribe(() => {}, { concurrency: 0 })).rejects.toMatchObject({ code: 'OptionError' })
    await expect(queue.subscribe(() => {}, { onDeath() {} } as never)).rejects.toMatchObject({
      code: 'OptionError',
    })
    expect(() => memoryQueue('')).toThrow(/the name of a queue/)
  })

  test('a Standard Schema checks both sides; its result for the payload arrives once', async () => {
    const schema = z.object({ at: z.coerce.date(), price: z.string().transform((text) => `${text} €`) })
    const queue = memoryQueue(freshName('zod'), { schema })
    const seen: { at: Date; price: string }[] = []
    await queue.subscribe((payload) => void seen.push(payload))
    await queue.publish({ at: '2026-01-01', price: '3' })
    await queue.drained()
    expect(seen).toEqual([{ at: new Date('2026-01-01'), price: '3 €' }])
    await expect(queue.publish({ at: 'x', price: '3' })).rejects.toMatchObject({
      code: 'QueuePayloadError',
      message: expect.stringContaining('/at'),
    })
  })
})

describe('a custom engine', () => {
  class Broker implements GenericPubSub<{ urgent?: boolean }> {
    readonly name = 'broker'
    readonly handlers = new Map<string, Set<(payload: unknown) => Promise<void>>>()
    readonly log: unknown[] = []
    async publish(topic: string, payload: unknown, options?: object) {
      this.log.push([topic, payload, options])
      for (const handler of this.handlers.get(topic) ?? []) {
        await handler(payload).catch((error: Error) => this.log.push(error.message))
      }
      return { id: String(this.log.length) }
    }
    async subscribe(topic: string, handler: (payload: unknown) => Promise<void>) {
      this.handlers.set(topic, (this.handlers.get(topic) ?? new Set()).add(handler))
    }
    async unsubscribe(topic: string, handler: (payload: unknown) => Promise<void>) {
      this.handlers.get(topic)?.delete(handler)
    }
  }

  test('has another publisher: a payload with a key that reaches a prototype is given up and never handled', async () => {
    const broker = new Broker()
    const failures: unknown[] = []
    defineQueueConfiguration({
      broker: { errorHandler: (error: Error & { code?: string }) => void failures.push(error.code, error.message) },
    })
    await QueueService.run()
    const queue = createQueue<object>('foreign', broker)
    const seen: unknown[] = []
    const dead: unknown[] = []
    const handle = await queue.subscribe((payload) => void seen.push(payload), { onDead: () => void dead.push('dead') })
    await broker.publish('foreign', JSON.parse('{"order":{"__proto__":{"admin":true}}}'))
    await broker.publish('foreign', { order: 1 })
    expect(seen).toEqual([{ order: 1 }])
    expect(dead).toEqual(['dead'])
    expect(failures).toEqual([
      'QueuePayloadError',
      expect.stringMatching(/the payload for the queue "foreign" has the key __proto__ or constructor\.prototype$/),
    ])
    await handle.unsubscribe()
  })

  test('receives published messages with their options; each handle ends its own handler', async () => {
    const broker = new Broker()
    const errors: unknown[] = []
    defineQueueConfiguration({ broker: { errorHandler: (error: Error) => void errors.push(error.message) } })
    await QueueService.run()
    const queue = createQueue<number, { urgent?: boolean }>('custom', broker)
    expect(queue.kind).toBe('broker')
    const seen: string[] = []
    const first = await queue.subscribe((payload) => void seen.push(`first ${payload}`))
    const second = await queue.subscribe((payload) => {
      seen.push(`second ${payload}`)
      throw new Error('no')
    })
    expect(await queue.publish(1, { urgent: true })).toEqual({ id: '2' })
    await first.unsubscribe()
    await queue.publish(2)
    await second.unsubscribe()
    expect(seen).toEqual(['first 1', 'second 1', 'second 2'])
    expect(broker.log).toEqual([['custom', 1, { urgent: true }], 'no', ['custom', 2, undefined], 'no'])
    expect(errors).toEqual(['no', 'no'])
    expect(broker.handlers.get('custom')?.size).toBe(0)
  })

  test('that refuses a subscriber rejects subscribe; an invalid one is refused', async () => {
    await QueueService.run()
    const broker = new Broker()
    broker.subscribe = () => Promise.reject(new Error('not today'))
    await expect(createQueue('custom', broker).subscribe(() => {})).rejects.toThrow('not today')
    expect(() => createQueue('custom', { publish() {} } as never)).toThrow(/createQueue: subscribe/)
  })
})

describe('methods as subscribers', () => {
  test('the standard protocol: the newest instance takes the messages', async () => {
    const queue = memoryQueue<number>(freshName('decorated'))
    const seen: string[] = []
    class Handlers {
      readonly prefix: string
      constructor(prefix: string) {
        this.prefix = prefix
      }
      @queue.subscribeMethod({ concurrency: 2 })
      async handle(payload: number) {
        seen.push(`${this.prefix} ${payload}`)
      }
    }
    new Handlers('first')
    await queue.publish(1)
    await queue.drained()
    new Handlers('second')
    await queue.publish(2)
    await queue.drained()
    expect(seen).toEqual(['first 1', 'second 2'])
  })

  test('without an instance: a method that needs none works, one that does fails with the reason', async () => {
    const queue = memoryQueue<number>(freshName('no-instance'))
    const seen: number[] = []
    class Handlers {
      readonly list = seen
      @queue.subscribeMethod()
      handle(payload: number) {
        if (payload === 1) seen.push(payload)
        else this.list.push(payload)
      }
    }
    expect(Handlers).toBeTypeOf('function')
    await queue.publishMany([1, 2])
    await queue.drained()
    expect(seen).toEqual([1])
    expect(queue.dead[0]?.error.message).toMatch(/handle uses this\.list, but its class has no instance/)
  })

  test('a method that lacks its instance when the workers start is an error in the log, by name', async () => {
    const queue = memoryQueue<number>(freshName('lacking'))
    const made = memoryQueue<number>(freshName('made'))
    class Handlers {
      sum = 0
      @queue.subscribeMethod()
      add(payload: number) {
        this.sum += payload
      }
    }
    class Made {
      sum = 0
      @made.subscribeMethod()
      add(payload: number) {
        this.sum += payload
      }
    }
    new Made()
    await makeServer(run).listen()
    const errors = log.filter(({ level }) => level === 'error').map(({ message }) => message)
    expect(errors).toContain(
      `the queue "${queue.name}": the method add uses this.sum, but its class has no instance. Create one at startup: new …()`,
    )
    expect(errors.filter((message) => message?.includes(made.name))).toEqual([])
    expect(Handlers.name).toBe('Handlers')
  })

  test('the older protocol: an instance is made with the first message, one for the class', async () => {
    const { decorated } = await import('../fixtures/queues-legacy.ts?legacy' as string)
    const { queue, seen, made } = decorated as {
      queue: { publish(payload: number): Promise<unknown>; drained(): Promise<void> }
      seen: string[]
      made(): number
    }
    expect(made()).toBe(0)
    await queue.publish(1)
    await queue.publish(2)
    await queue.drained()
    expect(seen.sort()).toEqual(['legacy 1', 'legacy 2'])
    expect(made()).toBe(1)
  })

  test('subscribe() without arguments is the same, and deprecated', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const queue = memoryQueue<number>(freshName('deprecated'))
    const seen: number[] = []
    class Handlers {
      @queue.subscribe()
      handle(payload: number) {
        seen.push(payload)
      }
      @queue.subscribe()
      other(payload: number) {
        seen.push(payload)
      }
    }
    new Handlers()
    await queue.publishMany([1, 2, 3])
    await queue.drained()
    expect(seen.sort()).toEqual([1, 2, 3])
    expect(warned.mock.calls).toEqual([
      [expect.stringContaining('subscribeMethod()'), expect.objectContaining({ code: 'FRAMEWORK_DEP0003' })],
    ])
    warned.mockRestore()
  })

  test('a decorator on anything else is refused', () => {
    const queue = memoryQueue<number>(freshName('misplaced'))
    const mark = queue.subscribeMethod() as unknown as (...args: unknown[]) => void
    expect(() => mark(class {}, { kind: 'class', name: 'X' })).toThrow(/subscribeMethod/)
    expect(() => mark(undefined, { kind: 'field', name: 'x' })).toThrow(/subscribeMethod/)
  })
})

test('a schema that cannot be compiled fails the boot, and where there is no server the first publication', async () => {
  const name = freshName('schema')
  const queue = memoryQueue(name, { schema: { type: 'object', properties: { copies: { type: 'numbr' } } } })
  const why = `the schema of the queue "${name}" cannot be used: it is not a valid JSON Schema: /properties/copies/type must be one of array, boolean, integer, null, number, object, string, and is "numbr"`
  await expect(queue.publish({} as never)).rejects.toMatchObject({
    code: 'QueueSchemaError',
    message: expect.stringContaining(why),
  })
  const server = new Server({ background: { queues: {} }, router: new RouteCollection() })
  await expect(server.ready()).rejects.toThrow(why)
  await server.close()
  // The name is known to the whole process: other servers must boot.
  memoryQueue(name)
  expect(() => memoryQueue(name, { schema: [] })).toThrow(
    `the schema of the queue "${name}" cannot be used: it is a list`,
  )
  memoryQueue(name)
})
