import { isInTime, type Logger, systemClock, within } from '../../kernel/index.ts'
import type { Batch, QueueCounts } from '../shared/engines/contract.ts'
import { QueueOperationError } from '../shared/engines/errors.ts'
import type { QueueConfigSettings } from '../shared/engines/options.ts'
import { Declarations } from '../shared/work/declarations.ts'
import { Mounts } from '../shared/work/mounts.ts'
import { stopOptions } from '../shared/work/running.ts'
import { configureServer, forgetProcessConfig } from './config.ts'
import { reportLacking } from './decorator.ts'
import { Engines } from './engines.ts'
import { findQueue, QueueOperator } from './operations.ts'
import { allQueues, type DeclaredQueue } from './registry.ts'
import { Repeats } from './repeats.ts'
import { type Subscriber, Subscription } from './subscription.ts'

/** The counts of one queue. */
export interface QueueReport extends QueueCounts {
  /** The name of the queue. */
  readonly queue: string
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom engine. */
  readonly kind: string
}

/** One subscriber of a server. */
export interface QueueSubscriber extends Pick<QueueReport, 'queue' | 'kind'> {
  /** How many messages it handles at once. */
  readonly concurrency: number
}

/** Messages in the outbox of a database, for one queue. */
export interface StoredBatch extends Omit<Batch<object>, 'signal'> {
  readonly name: string
  readonly kind: string
}

/** The subscribers of this process. They may be declared anywhere, and each server runs all of them. */
export const subscribers = new Declarations<Subscriber>()

/** The servers with queues. */
export const servers = new Mounts<QueueService>('Say which: queue.for(server)')

/**
 * The queues of the process, for code without a server. The first server takes them over, with their messages. A subscriber of a queue in memory
 * is active there without `run`: no other process could take its messages, so tests and scripts need nothing else.
 */
let ofProcess: QueueService | undefined

function processQueues(): QueueService {
  if (ofProcess === undefined) {
    ofProcess = new QueueService()
    subscribers.join(ofProcess)
  }
  return ofProcess
}

/**
 * The queues that a call means: those of the server whose request or job is running, else of the only server, else of the process.
 *
 * @throws WorkServerError if they could be those of several servers.
 */
export const queuesOf = (what: string): QueueService => servers.current(what) ?? processQueues()

/**
 * The queues of one server, or of a script: its workers, their health and their counts.
 *
 * @example
 * await QueueService.run()
 * process.once('SIGTERM', () => QueueService.stop())
 */
export class QueueService {
  /** @internal */
  engines = new Engines()
  /** @internal */
  repeats = new Repeats(this.engines)
  #subscriptions = new Map<Subscriber, Subscription>()
  /** Those that were removed while a handler ran: closing waits for them as well. */
  #leaving = new Set<Subscription>()
  /** Who wants the workers to run. */
  #wanted = new Set<'server' | 'script'>()

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
  static async run(): Promise<void> {
    await queuesOf('QueueService.run()').#run('script')
  }

  /** Starts the workers; a server with `run: true` does it when it listens. */
  async run(): Promise<void> {
    await this.#run('server')
  }

  async #run(by: 'server' | 'script'): Promise<void> {
    const isFirst = this.#wanted.size === 0
    this.#wanted.add(by)
    if (!isFirst) return
    reportLacking(this.engines.log)
    try {
      await subscribers.open(this)
    } catch (error) {
      await this.stop({ timeout: 0 })
      throw error
    }
  }

  /**
   * Ends the workers, lets handlers finish within `timeout` milliseconds (10000), closes every connection, and forgets the configuration.
   * A script that only publishes must also call it, or its connections keep the process alive.
   */
  static async stop(options?: { timeout?: number }): Promise<void> {
    const { timeout } = stopOptions.parse(options, 'QueueService.stop')
    const service = queuesOf('QueueService.stop()')
    service.#wanted.delete('script')
    // A server continues its workers, and keeps its connections.
    if (service.#wanted.size === 0) await service.#end(timeout, service === ofProcess)
    if (service !== ofProcess) return
    forgetProcessConfig()
    subscribers.join(service)
  }

  /** Ends the workers, lets handlers finish within `timeout` milliseconds (10000), and closes every connection. They may run again. */
  async stop(options?: { timeout?: number }): Promise<void> {
    await this.#end(stopOptions.parse(options, 'queues.stop').timeout, true)
  }

  async #end(timeout: number, isClosing: boolean): Promise<void> {
    this.repeats.endAll()
    const giveUpAt = systemClock.monotonic() + (timeout || 100)
    await this.#endWithin(timeout * 0.7)
    // An unavailable engine may take any time to close, which is not awaited.
    if (isClosing) await isInTime(this.engines.close(), giveUpAt - systemClock.monotonic(), systemClock)
  }

  /** Makes these the queues of a server, until the returned function is called: no subscriber is active until they run. @internal */
  mount(server: object, log: Logger, config: QueueConfigSettings | undefined): () => void {
    const owned = config === undefined ? [subscribers] : [subscribers, configureServer()]
    if (servers.size === 0 && ofProcess !== undefined) this.#takeOver(ofProcess)
    Object.assign(this.engines, { server, log, ownConfig: config })
    const unmount = servers.mount(server, this, ...owned)
    if (this.#wanted.size === 0) void this.drain(0)
    return unmount
  }

  /** Continues what the process has begun without a server. */
  #takeOver(before: QueueService): void {
    ofProcess = undefined
    this.engines = before.engines
    this.repeats = before.repeats
    this.#subscriptions = before.#subscriptions
    this.#leaving = before.#leaving
    this.#wanted = before.#wanted
    subscribers.replace(before, this)
  }

  /**
   * Takes no more messages from now on; waits for the running handlers for as long as they take, and then `ms` milliseconds for their engines. Resolves
   * with whether those have learnt which messages are handled: one that does not respond must not use up the time of the close hooks. @internal
   */
  async drain(ms: number): Promise<boolean> {
    this.#wanted.clear()
    subscribers.leave(this)
    const all = this.#all
    const ended = Promise.all(all.map((one) => one.stop().ended))
    for (;;) {
      await Promise.all(all.map((one) => one.idle()))
      if (await isInTime(ended, ms, systemClock)) return true
      if (all.every((one) => one.running === 0)) return false
    }
  }

  get #all(): Subscription[] {
    return [...this.#subscriptions.values(), ...this.#leaving]
  }

  /** Waits for the end of all subscribers, and in the end no longer. */
  async #endWithin(limit: number): Promise<void> {
    const start = systemClock.monotonic()
    if (await within(this.drain(limit / 4), limit, () => false, systemClock)) return
    const ms = Math.round(systemClock.monotonic() - start)
    const all = this.#all
    const running = all.reduce((sum, one) => sum + one.running, 0)
    const inMemory = all.reduce((sum, one) => sum + (one.queue.kind === 'memory' ? one.running : 0), 0)
    const queues = [...new Set(all.filter((one) => one.running > 0).map(({ queue }) => queue.name))]
    const what =
      running > 0
        ? `${running === 1 ? 'a handler of a queue was' : `${running} handlers of queues were`} still running`
        : 'an engine of queues did not learn which messages are handled'
    this.engines.log.warn({ running, queues }, `${what} after ${ms} ms; ${fateOf(running, inMemory)}`)
    for (const one of all) one.abandon()
    this.engines.memory.abandon()
  }

  /** @internal */
  get server(): object | undefined {
    return this.engines.server
  }

  /** Whether a subscriber may be active by now. @internal */
  takes({ queue }: Subscriber): boolean {
    return this.#wanted.size > 0 || this.engines.resolve(queue).kind === 'memory'
  }

  /** @internal */
  adopt(subscriber: Subscriber): Promise<void> {
    return this.#subscriptionOf(subscriber).start()
  }

  #subscriptionOf(subscriber: Subscriber): Subscription {
    const known = this.#subscriptions.get(subscriber)
    // The configuration of its server may have put the queue on another engine than that of the process.
    if (known !== undefined && known.queue.kind === this.engines.resolve(subscriber.queue).kind) return known
    if (known !== undefined) void this.drop(subscriber)
    const made = new Subscription(subscriber, this.engines)
    this.#subscriptions.set(subscriber, made)
    return made
  }

  /** Resolves when a subscriber receives no more messages. Those in progress continue. @internal */
  async drop(subscriber: Subscriber): Promise<void> {
    const subscription = this.#subscriptions.get(subscriber)
    if (subscription === undefined) return
    this.#subscriptions.delete(subscriber)
    const { quiet, ended } = subscription.stop()
    this.#leaving.add(subscription)
    void ended.finally(() => this.#leaving.delete(subscription))
    await quiet
  }

  /** The subscribers of this server, active or not. */
  subscribers(): QueueSubscriber[] {
    return subscribers.of(this.engines.server).map(({ queue, options: { concurrency } }) => ({
      queue: queue.name,
      kind: this.engines.resolve(queue).kind,
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
    // Two engines of the application may have the same name.
    const one = new Map(this.declared().map((queue) => [queue.pubsub ?? queue.kind, queue]))
    await Promise.all(
      [...one.values()].map((queue) => this.engines.ask(queue, (driver, signal) => driver.ping(signal))),
    )
  }

  /** The counts of every queue whose engine is configured, for metrics. */
  counts(): Promise<QueueReport[]> {
    return Promise.all(
      this.declared().map(async (queue) => {
        const { name, kind } = queue
        const counts = await this.engines.ask(queue, (driver, signal) => driver.counts(name, signal))
        return { queue: name, kind, ...counts }
      }),
    )
  }

  /**
   * Returns what looks after the messages of one queue: lists them, sends failed ones again, removes them, pauses the queue.
   *
   * @throws QueueOperationError for a name that no queue of this process has. A queue whose engine is not configured rejects each call.
   */
  of(name: string): QueueOperator {
    const configured = this.declared()
    const known = configured.some((queue) => queue.name === name) ? configured : this.resolved()
    return new QueueOperator(findQueue(name, known), this.engines)
  }

  /** Passes messages from the outbox to their engine. @internal */
  async deliver({ name, kind, texts, options: given, metas }: StoredBatch): Promise<void> {
    const queue = this.resolved().find((one) => one.name === name && one.kind === kind)
    if (queue === undefined)
      throw QueueOperationError(
        `the outbox has a message for the queue "${name}" of ${kind}, and no imported module makes it. Keep the queue and its engine until its messages are delivered`,
      )
    // JSON has no `undefined`.
    const options = given.map((one) => one ?? undefined)
    // Each part has the time limit of a call: all together could be late in every attempt, and would send the first ones again each time.
    for (let at = 0; at < texts.length; at += 500) {
      const part = <One>(all: readonly One[]) => all.slice(at, at + 500)
      const batch = { texts: part(texts), options: part(options), metas: part(metas) }
      await this.engines.ask(queue, (driver, signal) => driver.publish(name, { ...batch, signal }))
    }
  }

  /** The queues whose engine is configured. @internal */
  declared(): DeclaredQueue[] {
    return this.resolved().filter((queue) => this.engines.isConfigured(queue))
  }

  /** The queues with their engines, configured or not. @internal */
  resolved(): DeclaredQueue[] {
    return allQueues().map((queue) => this.engines.resolve<DeclaredQueue>(queue))
  }
}

/** What happens to messages when closing no longer waits for their handlers. */
function fateOf(running: number, inMemory: number): string {
  if (inMemory === 0) return 'the messages will be delivered again'
  if (inMemory < running) return `the messages will be delivered again, but not the ${inMemory} of queues in memory`
  return 'the messages will not be delivered again: their queues are in memory'
}
