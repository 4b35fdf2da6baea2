import { once } from 'node:events'
import type * as bullmq from 'bullmq'
import type { Job, Queue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { isInTime, systemClock } from '../../../kernel/index.ts'
import { peer, peers } from '../environment/optional-package.ts'
import { forCallers } from '../stores/redis-client.ts'
import { isUnreachable } from '../stores/unreachable.ts'
import { madeIn, sharing } from '../values/memoize.ts'
import { deferred } from '../values/promises.ts'
import { foreignPause } from '../work/local-queue.ts'
import { connectionsOf, type RedisConnections } from './bullmq-connection.ts'
import { bullmqOperations, metaIn } from './bullmq-operations.ts'
import type { Batch, Consumer, Deliver, Delivery, DriverHost, QueueCounts, QueueDriver } from './contract.ts'
import type { Meta } from './meta.ts'
import type { BullmqSettings } from './options.ts'

/** In the form of BullMQ's own telemetry, so that publishers and workers without this framework are compatible. */
const withMeta = (options: object | undefined, meta: Readonly<Meta> | undefined) =>
  meta === undefined ? { ...options } : { ...options, telemetry: { metadata: JSON.stringify(meta) } }

const feature = 'a queue of BullMQ (bullmqQueue)'

/** Queues in Redis. */
export class BullmqDriver implements QueueDriver<object> {
  readonly operations = (signal: AbortSignal) => bullmqOperations((topic) => this.#queue(topic, signal), signal)
  readonly #bullmq: typeof bullmq
  readonly #connections: RedisConnections
  readonly #config: BullmqSettings
  readonly #host: DriverHost
  readonly #queues = new Map<string, Queue>()
  readonly #workers = new Set<Worker>()
  #publisher: Redis | undefined
  #consumer: Redis | undefined
  /** The refusals of Redis for each queue, by the first word of the reason; each is reported once until a job comes. */
  readonly #refused = new Map<string, Set<string>>()
  #closed = false
  /** Shared, because each call waits with listeners of its own. */
  readonly ping = sharing(() => this.#askOnce())
  /** Callers that wait for the connection for publishing. */
  readonly #waiting = new Set<() => void>()

  private constructor(packages: typeof bullmq, Client: typeof Redis, config: BullmqSettings, host: DriverHost) {
    this.#bullmq = packages
    this.#connections = connectionsOf(Client, config.connection, host)
    this.#config = config
    this.#host = host
  }

  /** Loads the packages; connects to nothing yet. */
  static async load(config: BullmqSettings, host: DriverHost): Promise<BullmqDriver> {
    const [loaded, { Redis }] = await peers(
      peer('bullmq', () => import('bullmq'), feature),
      peer('ioredis', () => import('ioredis'), feature),
    )
    return new BullmqDriver(loaded, Redis, config, host)
  }

  async publish(topic: string, { texts, options, metas, signal }: Batch<object>): Promise<string[]> {
    const queue = await this.#queue(topic, signal)
    const all = texts.map((text, i) => ({ name: topic, data: JSON.parse(text), opts: withMeta(options[i], metas[i]) }))
    const [only] = all
    // Several jobs are sent in a transaction, which would cost two extra commands for a single one.
    if (all.length === 1) return [(await queue.add(topic, only!.data, only!.opts)).id!]
    return (await queue.addBulk(all)).map((job) => job.id!)
  }

  /**
   * The queue over the connection for publishing, which refuses commands while it is down. BullMQ by itself would wait for
   * ever, and send messages whose publishing has timed out as soon as Redis comes back.
   */
  async #queue(topic: string, signal: AbortSignal): Promise<Queue> {
    const client = await this.#client(signal)
    let queue = this.#queues.get(topic)
    if (queue === undefined) {
      queue = new this.#bullmq.Queue(topic, {
        connection: client,
        prefix: this.#config.prefix,
        // BullMQ would keep every job for ever.
        defaultJobOptions: { removeOnComplete: 1000 },
      })
      queue.on('error', (error) => this.#host.down(error))
      this.#queues.set(topic, queue)
    }
    try {
      await queue.waitUntilReady()
    } catch (error) {
      // This queue would fail for ever because Redis was down when it was created.
      this.#queues.delete(topic)
      throw error
    }
    signal.throwIfAborted()
    return queue
  }

  /** The connection for publishing, once it is up. A caller that times out stops waiting, which releases its payload. */
  async #client(signal: AbortSignal): Promise<Redis> {
    this.#publisher ??= this.#connectPublisher()
    if (this.#publisher.status !== 'ready') {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.add(resolve)
        const giveUp = () => {
          this.#waiting.delete(resolve)
          reject(signal.reason)
        }
        signal.addEventListener('abort', giveUp, { once: true })
      })
    }
    return this.#publisher
  }

  #connectPublisher(): Redis {
    const client = this.#connections.connect({
      ...forCallers,
      commandTimeout: this.#config.publishTimeout,
    })
    client.on('ready', () => {
      for (const goOn of this.#waiting) goOn()
      this.#waiting.clear()
    })
    return client
  }

  consume(topic: string, deliver: Deliver, { concurrency }: { concurrency: number }): Consumer {
    // A worker waits for Redis for as long as it takes, then continues.
    this.#consumer ??= this.#connections.connect({
      maxRetriesPerRequest: null,
      retryStrategy: forCallers.retryStrategy,
    })
    const { prefix, lockDuration, stalledInterval, maxStalledCount } = this.#config
    let isStopped = false
    let running = 0
    const process = async (job: Job, token?: string) => {
      if (isStopped) {
        // As the next in line, without counting the attempt.
        await job.moveToWait(token)
        throw new this.#bullmq.WaitingError()
      }
      running++
      this.#refused.delete(topic)
      await this.#process(job, token, deliver).finally(() => running--)
    }
    const worker = new this.#bullmq.Worker(topic, process, {
      connection: this.#consumer,
      concurrency,
      // Otherwise 15 s would pass before the next attempt when a connection breaks at the wrong moment.
      runRetryDelay: 1000,
      prefix,
      lockDuration,
      stalledInterval,
      maxStalledCount,
    })
    worker.on('error', (error) => this.#workerFailed(topic, error))
    // One that was lost more than maxStalledCount times reaches no processor.
    worker.on('failed', (job, error) => {
      if (job !== undefined && error.message === 'job stalled more than allowable limit')
        void deliver(job.data, { ...deliveryOf(job), attempt: Math.max(1, job.attemptsMade), lost: error })
    })
    this.#workers.add(worker)
    const { promise: ended, resolve: end } = deferred()
    const stop = () => {
      isStopped = true
      // Without Redis, a worker ends only when Redis is back or through `close`, so an idle one is not awaited.
      if (running === 0 && this.#consumer?.status !== 'ready') end()
      // `pause` takes no further job and lets handlers finish. `close` would also wait for them, but could not be cut short
      // then: the timer that renews its locks would keep the process alive.
      void worker
        .pause()
        .then(() => worker.close())
        .catch((error: unknown) => {
          if (!this.#closed) this.#host.warn(`a worker of the queue "${topic}" did not stop cleanly`, error)
        })
        .then(() => this.#workers.delete(worker))
        .then(() => end())
    }
    return { stop, ended }
  }

  #workerFailed(topic: string, error: Error): void {
    if (this.#closed) return
    const lost = `the queue "${topic}": another worker received a job while its handler was still running`
    if (/lock|stalled/i.test(error.message)) return void this.#host.warn(lost, error)
    if (this.#consumer?.status !== 'ready' || isUnreachable(error)) return void this.#host.down(error)
    const reported = madeIn(this.#refused, topic, () => new Set<string>())
    // OOM, NOPERM or MISCONF: the words after it name one of many scripts.
    const reason = error.message.split(' ', 1)[0]!
    if (reported.has(reason)) return
    reported.add(reason)
    const what = error instanceof SyntaxError ? 'a job is not JSON, and stays active' : 'Redis refuses a command'
    this.#host.warn(`the queue "${topic}": ${what}`, error)
  }

  async #process(job: Job, token: string | undefined, deliver: Deliver): Promise<void> {
    const outcome = await deliver(job.data, deliveryOf(job))
    if (outcome.ok) return
    const { error, final } = outcome
    if (outcome.isForeign) {
      await job.moveToDelayed(systemClock.now() + foreignPause(), token)
      throw new this.#bullmq.DelayedError()
    }
    if (!final) throw error
    // BullMQ keeps the stack for operators, and no cause.
    throw Object.assign(new this.#bullmq.UnrecoverableError(error.message), { cause: error, stack: error.stack })
  }

  async counts(topic: string, signal: AbortSignal): Promise<QueueCounts> {
    const queue = await this.#queue(topic, signal)
    const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed')
    const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts
    // The first of each. One that another program has written may not be JSON, and would take the counts of all queues from the metrics.
    const heads = await queue.getJobs(['waiting', 'prioritized'], 0, 0, true).catch((error: unknown) => {
      if (error instanceof SyntaxError) return []
      throw error
    })
    const ages = heads.map((job) => (job === undefined ? 0 : systemClock.now() - readySince(job)))
    return { waiting: waiting + prioritized, active, delayed, failed, oldest: Math.max(0, ...ages) }
  }

  /** Without a connection, rejects with the reason of the next attempt to connect instead of waiting for a later one. */
  async #askOnce(): Promise<void> {
    this.#publisher ??= this.#connectPublisher()
    const client = this.#publisher
    if (client.status !== 'ready') await once(client, 'ready')
    await client.ping()
  }

  async close(): Promise<void> {
    this.#closed = true
    // The remaining workers were given up: their jobs go to others when their locks expire.
    const ending = [...this.#workers].map((worker) => worker.close(true))
    const closing = [...this.#queues.values()].map((queue) => queue.close())
    const all = Promise.allSettled([...ending, ...closing])
    this.#connections.close()
    // BullMQ waits for connections that are never made.
    await isInTime(all, 200, systemClock)
  }
}

const deliveryOf = (job: Job): Delivery => ({
  id: job.id!,
  attempt: job.attemptsMade + 1,
  // BullMQ stores 0 for a job without the option.
  attempts: job.opts.attempts || 1,
  meta: metaIn(job),
})

/** When a job became ready: at the end of its delay, or at its last attempt, since BullMQ does not record the pause after it. */
const readySince = ({ timestamp, opts, processedOn = 0 }: Job): number =>
  Math.max(timestamp + (opts.delay ?? 0), processedOn)
