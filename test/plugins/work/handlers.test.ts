import {
  cron,
  MqttService,
  memoryQueue,
  mqtt,
  QueueService,
  RouteCollection,
  Server,
  setCronGlobalErrorHandler,
  setMqttGlobalErrorHandler,
} from 'framework'
import { CronService } from 'framework/plugins/cron'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { freshName, until } from '../../support/queues.ts'

declare module 'framework' {
  interface MqttTopics {
    hanging: unknown
  }
}

/** One kind of work with a handler: how it is declared, triggered and stopped. */
interface Kind {
  readonly name: string
  /** Declares and starts a handler; returns how to trigger it, and how to stop its service without waiting for it. */
  open(
    handler: (signal: AbortSignal) => unknown,
    timeout?: number,
  ): Promise<{
    trigger(): Promise<unknown>
    stop(): Promise<unknown>
  }>
  /** The messages of the errors that its error handlers have received. */
  readonly errors: string[]
}

const messageOf = (error: unknown) => (error as Error).message

const kinds: Kind[] = [
  {
    name: 'a subscriber of a queue',
    errors: [],
    async open(handler, timeout) {
      const queue = memoryQueue<number>(freshName('handlers'))
      await QueueService.run()
      const { unsubscribe } = await queue.subscribe((_payload, { signal }) => handler(signal), {
        onDead: (_payload, error) => void this.errors.push(error.message),
        ...(timeout && { timeout }),
      })
      return {
        trigger: () => queue.publish(1),
        async stop() {
          await QueueService.stop({ timeout: 0 })
          await unsubscribe()
        },
      }
    },
  },
  {
    name: 'a cron job',
    errors: [],
    async open(handler, timeout) {
      const service = await CronService.run({ crons: [], logger: memoryLogger() })
      const job = cron('0 * * * *', { name: freshName('handlers'), ...(timeout && { timeout }) })
      setCronGlobalErrorHandler((error) => void this.errors.push(messageOf(error)))
      await job.start(({ signal }) => handler(signal))
      return {
        trigger: () => service.trigger(job.name),
        async stop() {
          await service.stop({ timeout: 0 })
          job.destroy()
        },
      }
    },
  },
  {
    name: 'a subscription of MQTT',
    errors: [],
    async open(handler, timeout) {
      await MqttService.connect({ provider: 'memory', logger: memoryLogger() })
      setMqttGlobalErrorHandler((error) => void this.errors.push(messageOf(error)))
      const options = { details: true as const, ...(timeout && { timeout }) }
      const { unsubscribe } = await mqtt.subscribe('hanging', (_message, { signal }) => handler(signal), options)
      return {
        trigger: () => mqtt.publish('hanging', 1),
        async stop() {
          await MqttService.disconnect({ timeout: 0 })
          await unsubscribe()
        },
      }
    },
  },
  {
    name: 'the handler of a message of a websocket',
    errors: [],
    async open(handler, timeout) {
      const router = new RouteCollection()
      router.ws(
        '/',
        { ...(timeout && { socket: { timeout } }) },
        {
          message: (_socket, _message, { signal }) => handler(signal),
          error: (_socket, error) => void this.errors.push(messageOf(error)),
        },
      )
      const server = new Server({
        logger: memoryLogger(),
        router,
        drainWindow: 0,
        closeTimeout: 600,
        plugins: { websocket: true },
      })
      const socket = await server.inject.ws('/')
      return {
        trigger: async () => socket.send('x'),
        async stop() {
          await socket.close()
          await server.close()
        },
      }
    },
  },
]

const unhandled: unknown[] = []
process.on('unhandledRejection', (error) => unhandled.push(error))
afterEach(() => {
  setCronGlobalErrorHandler(undefined)
  setMqttGlobalErrorHandler(undefined)
})

describe.each(kinds)('$name', (kind) => {
  test('that hangs is aborted at its time limit, has failed, and gives its place to the next', async () => {
    const signals: AbortSignal[] = []
    const reject: ((error: Error) => void)[] = []
    const hang = (signal: AbortSignal) => {
      signals.push(signal)
      return new Promise((_resolve, no) => reject.push(no))
    }
    const { trigger, stop } = await kind.open(hang, 20)
    await trigger()
    await until(() => kind.errors.length === 1, 'the failure')
    expect(kind.errors).toEqual([expect.stringContaining('has not finished within 20 ms, its time limit')])
    expect(signals[0]!.aborted).toBe(true)
    expect(messageOf(signals[0]!.reason)).toBe(kind.errors[0])
    await trigger()
    await until(() => signals.length === 2, 'the next call')
    await until(() => kind.errors.length === 2, 'its failure')
    // What it does later is ignored.
    for (const one of reject) one(new Error('late'))
    await new Promise(setImmediate)
    expect([unhandled, kind.errors.length]).toEqual([[], 2])
    await stop()
  })

  test('that ends in time keeps a quiet signal', async () => {
    const signals: AbortSignal[] = []
    const { trigger, stop } = await kind.open((signal) => signals.push(signal), 60_000)
    await trigger()
    await until(() => signals.length === 1, 'the call')
    await new Promise(setImmediate)
    expect(signals[0]!.aborted).toBe(false)
    await stop()
  })

  test('is aborted when closing no longer waits for it', async () => {
    const signals: AbortSignal[] = []
    const { trigger, stop } = await kind.open((signal) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    await trigger()
    await until(() => signals.length === 1, 'the call')
    expect(signals[0]!.aborted).toBe(false)
    await stop()
    expect(signals[0]!.aborted).toBe(true)
  })

  test.each([-1, '1s', 2 ** 31])('refuses the timeout %j', async (timeout) => {
    await expect(kind.open(() => {}, timeout as number)).rejects.toMatchObject({
      code: expect.stringMatching(/OptionError$/),
    })
    await QueueService.stop({ timeout: 0 })
    await MqttService.disconnect({ timeout: 0 })
  })
})
