import { stopOptions } from '../shared/work/running.ts'
import { forgetConfiguration, queueConfig } from './config.ts'
import type { QueueCounts } from './drivers/contract.ts'
import { declaredQueues } from './queue.ts'
import { declaredSubscriptions, Holder } from './registry.ts'

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
  static readonly #script = new Holder()
  readonly #holder = new Holder()

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
  run(): Promise<void> {
    return this.#holder.run()
  }

  /**
   * Ends the workers, lets handlers finish within `timeout` milliseconds (10000), closes every connection, and forgets the configuration.
   * A script that only publishes must also call it, or its connections keep the process alive.
   */
  static async stop(options?: StopOptions): Promise<void> {
    const { timeout } = stopOptions.parse(options, 'QueueService.stop')
    const config = queueConfig()
    // A server that is still running keeps its configuration.
    if (await QueueService.#script.release(timeout)) forgetConfiguration(config)
  }

  /** Ends the workers of this process: see the static method. */
  async stop(options?: StopOptions): Promise<void> {
    await this.#holder.release(stopOptions.parse(options, 'queues.stop').timeout)
  }

  /** No subscriber is active until this runs. @internal */
  claim(): void {
    this.#holder.claim()
  }

  /** Takes no more messages from now on, and waits for the running handlers for as long as they take. @internal */
  drain(): Promise<void> {
    return this.#holder.drain()
  }

  /** The subscribers of this process, active or not. */
  subscribers(): QueueSubscriber[] {
    return declaredSubscriptions().map(({ queue, concurrency }) => ({
      queue: queue.name,
      kind: queue.kind,
      concurrency,
    }))
  }

  /**
   * Resolves while the engine of every queue responds, otherwise rejects with the first failure; the plugin `health` asks it.
   *
   * @example
   * server.get('/status', () => server.services.get('queues').health())
   */
  async health(): Promise<void> {
    const one = new Map(declaredQueues().map((queue) => [queue.kind, queue]))
    await Promise.all([...one.values()].map((queue) => queue.health()))
  }

  /** The counts of every queue of this process whose engine is configured, for metrics. */
  counts(): Promise<QueueReport[]> {
    const asked = declaredQueues().map(async (queue) => ({
      queue: queue.name,
      kind: queue.kind,
      ...(await queue.counts()),
    }))
    return Promise.all(asked)
  }
}
