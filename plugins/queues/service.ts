import { isInTime, systemClock } from '../../kernel/index.ts'
import type { Runner } from '../shared/work/declarations.ts'
import { stopOptions } from '../shared/work/running.ts'
import { forgetConfiguration, queueConfig } from './config.ts'
import { reportLacking } from './decorator.ts'
import type { QueueCounts } from './drivers/contract.ts'
import { closeEngines, queueLog } from './engines.ts'
import type { QueueConfigSettings } from './options.ts'
import { declaredQueues } from './queue.ts'
import { declarations, endAll, endWithin } from './registry.ts'
import type { Subscription } from './subscription.ts'

/** The counts of one queue. */
export interface QueueReport extends QueueCounts {
  /** The name of the queue. */
  readonly queue: string
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom engine. */
  readonly kind: string
}

/** One subscriber of this process. */
export interface QueueSubscriber {
  /** The name of the queue. */
  readonly queue: string
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom engine. */
  readonly kind: string
  /** How many messages it handles at once. */
  readonly concurrency: number
}

/** Options of `stop`. */
export interface StopOptions {
  /** Milliseconds that running handlers have to finish. Default 10000. */
  readonly timeout?: number
}

/**
 * The queues of this process: its workers, their health and their counts.
 *
 * @example
 * await QueueService.run()
 * process.once('SIGTERM', () => QueueService.stop())
 */
export class QueueService {
  static readonly #script = new QueueService()
  readonly #runner: Runner<Subscription> = {
    takes: () => true,
    adopt: (subscription) => subscription.start(),
    refused: (subscription, error) => subscription.reportNotStarted(error),
  }

  /**
   * Starts the workers of this process: every declared subscriber, now and later. For a process without
   * a server; with a server, `background: { queues: { config, run: true } }` does this.
   *
   * @throws (as a rejection) for a queue whose engine is not configured or not installed. An unavailable engine is awaited.
   * @example
   * const orders = bullmqQueue<{ book: number }>('orders')
   * await orders.subscribe(({ book }) => console.log(book))
   * defineQueueConfiguration({ bullmq: { connection: 'redis://127.0.0.1:6379' } })
   * await QueueService.run()
   * process.once('SIGTERM', () => QueueService.stop())
   */
  static run(): Promise<void> {
    return QueueService.#script.run()
  }

  /** Starts the workers of this process; a server with `run: true` does it when it listens. */
  async run(): Promise<void> {
    if (declarations.runners.includes(this.#runner)) return
    declarations.expected.add(this)
    reportLacking(queueLog())
    try {
      await declarations.open(this.#runner)
    } catch (error) {
      await this.#release(0)
      throw error
    }
  }

  /**
   * Ends the workers, lets handlers finish within `timeout` milliseconds (10000), closes every connection, and forgets the configuration.
   * A script that only publishes must also call it, or its connections keep the process alive.
   */
  static async stop(options?: StopOptions): Promise<void> {
    const { timeout } = stopOptions.parse(options, 'QueueService.stop')
    await QueueService.#script.#release(timeout, queueConfig())
  }

  /** Ends the workers of this process: see the static method. */
  async stop(options?: StopOptions): Promise<void> {
    await this.#release(stopOptions.parse(options, 'queues.stop').timeout)
  }

  /** No subscriber is active until this service or another one runs. @internal */
  claim(): void {
    declarations.expected.add(this)
    if (declarations.runners.length === 0) for (const subscription of declarations.all) subscription.stop()
  }

  /**
   * If no other service runs, the subscribers take no more messages from now on; waits for the running handlers for as long as they take.
   *
   * @internal
   */
  async drain(): Promise<void> {
    declarations.leave(this.#runner)
    // Subscribers that are declared meanwhile wait.
    this.claim()
    if (declarations.runners.length === 0) await endAll()
  }

  /**
   * Lets the last service that runs end the subscribers, and the last responsible one all the engines: afterwards, so that handlers can
   * publish until they end. A server that is still responsible keeps its configuration.
   */
  async #release(limit: number, config?: QueueConfigSettings): Promise<void> {
    const giveUpAt = systemClock.monotonic() + limit
    const drained = this.drain()
    try {
      if (declarations.runners.length === 0) await endWithin(drained, limit * 0.9)
    } finally {
      declarations.expected.delete(this)
    }
    if (declarations.expected.size > 0) return
    // An unavailable engine may take any time to close, which is not awaited.
    await isInTime(closeEngines(), Math.max(giveUpAt - systemClock.monotonic(), 100), systemClock)
    forgetConfiguration(config)
  }

  /** The subscribers of this process, active or not. */
  subscribers(): QueueSubscriber[] {
    return declarations.all.map(({ queue: { name, kind }, concurrency }) => ({ queue: name, kind, concurrency }))
  }

  /**
   * Resolves while the engine of every queue responds, otherwise rejects with the first failure; the plugin `health` asks it.
   *
   * @example
   * server.get('/status', () => server.services.get('queues').health())
   */
  async health(): Promise<void> {
    // Two engines of the application may have the same name.
    const one = new Map(declaredQueues().map(({ kind, pubsub, queue }) => [pubsub ?? kind, queue]))
    await Promise.all([...one.values()].map((queue) => queue.health()))
  }

  /** The counts of every queue of this process whose engine is configured, for metrics. */
  counts(): Promise<QueueReport[]> {
    return Promise.all(
      declaredQueues().map(async ({ name, kind, queue }) => ({ queue: name, kind, ...(await queue.counts()) })),
    )
  }
}
