import { clock, Trace, type TraceOutcome } from '../../kernel/index.ts'
import type { Consumer, Deliver, Delivery, Settle } from '../shared/engines/contract.ts'
import type { QueueRef, Unresolved } from '../shared/engines/custom.ts'
import { dangerous, QueueExpiredError, QueuePayloadError, QueueVersionError } from '../shared/engines/errors.ts'
import { type Meta, metaOf } from '../shared/engines/meta.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { reachesPrototype } from '../shared/values/json-dangers.ts'
import { messageOf, safely } from '../shared/values/safely.ts'
import { type Attempt, type Attempts, attempt, notify, runInTime, timeoutOption } from '../shared/work/attempt.ts'
import { type Carrier, carrierOf } from '../shared/work/carrier.ts'
import type { Outcome } from '../shared/work/local-queue.ts'
import { Call, Running } from '../shared/work/running.ts'
import { type TransactionOptions, transactionOption } from '../shared/work/transaction-options.ts'
import type { BatchSettings, Collector, QueueBatchHandler, QueueHandler, QueueMessage } from './batch.ts'
import { collecting } from './batch.ts'
import type { Engines } from './engines.ts'
import type { CheckPayload, PayloadSchema } from './schema.ts'

/** Options of `subscribe`. */
export interface SubscribeOptions<Payload = unknown> {
  /** How many messages this subscriber handles at once. Default 1. */
  concurrency?: number
  /** Milliseconds after which an attempt counts as failed, and another message takes its place. Default: none, or that of the engine. */
  timeout?: number
  /** Whether the handler runs in a transaction of the plugin `database`: a failure of the attempt rolls it back. Default `false`. */
  transaction?: boolean | TransactionOptions
  /** Called with a message that is given up, after the error handler. */
  onDead?(payload: Payload, error: Error, message: QueueMessage): unknown
}

/** Options of `subscribeBatch`. The attempts of a batch are several, so one transaction cannot belong to them. */
export interface SubscribeBatchOptions<Payload = unknown> extends Omit<SubscribeOptions<Payload>, 'transaction'> {
  /** The maximum number of messages for one call. Default 100. */
  size?: number
  /** Milliseconds for which the first message waits for others. Default 100. */
  wait?: number
}

const common = {
  concurrency: option.int({ min: 1, max: 10_000 }).default(1),
  timeout: timeoutOption,
  onDead: option.fn<NonNullable<SubscribeOptions['onDead']>>(),
}
export const subscribeOptions = option.shape({ ...common, transaction: transactionOption }).typed<SubscribeOptions>()
export const subscribeBatchOptions = option
  .shape({ ...common, size: option.int({ min: 1, max: 1000 }).default(100), wait: option.ms().default(100) })
  .typed<SubscribeBatchOptions>()

/** A queue, as its subscribers see it. */
export interface SubscribedQueue extends QueueRef {
  readonly check: CheckPayload | undefined
  /** The schema of the check. */
  readonly schema: PayloadSchema | undefined
  /** The version of its payloads; 1 if they never had another. */
  readonly version: number
  /** Makes a payload of this version from one of an earlier version; a queue of version 2 or higher has one. */
  readonly upgrade: UpgradePayload | undefined
}

/** Makes a payload of the present version from one of the version `from`. */
export type UpgradePayload = (payload: unknown, from: number) => unknown

const asError = (thrown: unknown) =>
  safely(() => thrown instanceof Error, false) ? (thrown as Error) : new Error(messageOf(thrown), { cause: thrown })
const delivered: Outcome = { ok: true }
const noMeta: Readonly<Meta> = {}
const isExpired = ({ expires }: Meta) => expires !== undefined && clock.now() >= expires
/** Whether no further attempt can succeed. */
const isHopeless = (error: Error) =>
  safely(() => /^(?:Queue(?:Payload|Expired)|TenantId)Error$/.test(String((error as { code?: unknown }).code)), false)

/** One attempt in progress. The signal is a getter of the class, so that a copy of a message does not create it. */
class Received extends Call implements QueueMessage {
  readonly id: string
  readonly queue: string
  readonly attempt: number
  readonly attempts: number | undefined

  constructor(queue: string, { id, attempt, attempts }: Delivery, meta: Readonly<Meta>, running: Running) {
    super(running)
    this.id = meta.id ?? id
    this.queue = queue
    this.attempt = attempt
    this.attempts = attempts ?? meta.attempts
  }
}

/** A message on its way through one attempt. */
type Delivered = Attempt & { call: Received; payload: unknown; delivery: Delivery; meta: Meta; settle: Settle }
type DeliveredAttempts = Attempts<Delivered, QueueAttemptTrace, Outcome>

/** The work of a subscriber between one start and its stop. */
interface Work {
  starting: Promise<void>
  consumer: Consumer | undefined
}

/** One attempt at one message. */
export interface QueueAttemptTrace extends Omit<QueueMessage, 'signal'>, TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom engine. */
  readonly kind: string
  /** The payload as the handler gets it. */
  readonly payload: unknown
  /** What the publisher put into `QueuePublishTrace.carrier`. Any client that writes to the engine can set it. */
  readonly carrier: Readonly<Carrier>
}

const attemptTrace = new Trace<QueueAttemptTrace>('queue.attempt')

/** A subscriber, as it was declared. */
export interface Subscriber {
  readonly queue: Unresolved<SubscribedQueue>
  readonly handler: QueueHandler<unknown>
  readonly options: SettingsOf<typeof subscribeOptions>
  /** With it, the handler takes several messages. */
  readonly batch?: BatchSettings
}

/** A subscriber in one server; active between `start` and `stop`. */
export class Subscription {
  readonly queue: SubscribedQueue
  readonly #handler: QueueHandler<unknown>
  readonly #collector: Collector | undefined
  readonly #options: Subscriber['options']
  readonly #concurrency: number
  readonly #engines: Engines
  readonly #attempts: DeliveredAttempts
  #work: Work | undefined
  /** Resolves when all earlier calls have ended. */
  #earlier: Promise<unknown> = Promise.resolve()
  readonly #running = new Running()
  #isForeignReported = false

  constructor({ queue, handler, options, batch }: Subscriber, engines: Engines) {
    this.queue = engines.resolve<SubscribedQueue>(queue)
    const { concurrency } = options
    const waitFor = () => (this.#work === undefined ? 0 : batch!.wait)
    this.#collector =
      batch && collecting(handler as unknown as QueueBatchHandler<unknown>, batch.size, waitFor, concurrency)
    this.#handler = this.#collector?.handle ?? handler
    this.#concurrency = concurrency * (batch?.size ?? 1)
    this.#options = options
    this.#engines = engines
    this.#attempts = this.#attemptsOf(this.queue, engines)
  }

  /** Deliveries in progress, including those of a stopped subscriber. */
  get running(): number {
    return this.#running.count
  }

  /** Resolves when no delivery is in progress. */
  idle(): Promise<void> {
    return this.#running.idle()
  }

  /** Starts taking messages; rejects when the engine cannot be used at all, and waits for an unavailable one. */
  start(): Promise<void> {
    if (this.#work !== undefined) return this.#work.starting
    const work: Work = { starting: Promise.resolve(), consumer: undefined }
    this.#work = work
    work.starting = this.#begin(work).catch((error: unknown) => {
      if (this.#work === work) this.#work = undefined
      throw error
    })
    return work.starting
  }

  async #begin(work: Work): Promise<void> {
    const driver = await this.#engines.driverOf(this.queue)
    const consume = async () => {
      if (this.#work !== work) return
      work.consumer = driver.consume(this.queue.name, this.#deliver, { concurrency: this.#concurrency })
      await work.consumer.begun
    }
    if (this.running === 0) return consume()
    // The calls of an earlier owner end first: `concurrency` applies across both. The start does not
    // wait for that, as it may take as long as a handler.
    this.#running.whenIdle(() => void consume().catch((error: unknown) => this.#notBegun(work, error)))
  }

  #notBegun(work: Work, error: unknown): void {
    if (this.#work === work) this.#work = undefined
    const { name } = this.queue
    this.#engines.log.error({ err: error, queue: name }, `a subscriber of the queue "${name}" could not start`)
  }

  /** Ends its work: `quiet` when no more messages reach the handler, `ended` when none is in progress either. */
  stop(): { readonly quiet: Promise<void>; readonly ended: Promise<void> } {
    const work = this.#work
    this.#work = undefined
    // Closing would wait for messages that no longer come, and give up those that have.
    this.#collector?.flush()
    const consumer = work?.consumer
    const quiet = Promise.resolve(consumer?.stop())
    const ended = Promise.all([this.#earlier, consumer?.ended])
    this.#earlier = ended
    return { quiet, ended: ended.then(() => {}) }
  }

  /** Stops counting unfinished calls: closing has waited long enough, and the engine delivers their messages to another subscriber. */
  abandon(): void {
    this.#earlier = Promise.resolve()
    this.#running.abandon(new Error(`closing no longer waits for the handlers of the queue "${this.queue.name}"`))
  }

  readonly #deliver: Deliver = (payload, delivery, settle) => {
    const { name, version } = this.queue
    const meta = delivery.meta === undefined ? noMeta : metaOf(delivery.meta, name)
    // One that is expired or lost is given up by any process: a newer one may never come. A dead letter queue needs no versions.
    const isNewer = (meta.version ?? 1) > version && (version > 1 || (meta.queue ?? name) === name)
    if (isNewer && !delivery.lost && !isExpired(meta)) return this.#giveBack(meta.version!, delivery, settle)
    const call = new Received(name, delivery, meta, this.#running)
    // The call of a batch has a limit of its own, from its beginning.
    const timeout = this.#collector === undefined ? this.#limitOf(meta, delivery) : delivery.timeout
    const limit = timeout === delivery.timeout ? 'expireInSeconds of the message' : undefined
    // One promise for each message: `deliver` itself is not async.
    return attempt(this.#attempts, { call, timeout, limit, tenant: meta.tenant, payload, delivery, meta, settle })
  }

  #limitOf(meta: Meta, delivery: Delivery): number | undefined {
    const own = meta.timeout ?? this.#options.timeout ?? delivery.timeout
    return own && Math.min(own, delivery.timeout ?? own)
  }

  #attemptsOf({ name, kind }: SubscribedQueue, engines: Engines): DeliveredAttempts {
    const what = `the queue "${name}": the handler`
    return {
      trace: attemptTrace,
      event({ call, payload, delivery }) {
        const carrier = carrierOf(delivery.meta) ?? {}
        return { ...call, server: engines.server, kind, payload, carrier }
      },
      what,
      run: ({ call, payload, delivery, meta }) => {
        if (delivery.lost) throw delivery.lost
        if (isExpired(meta)) throw QueueExpiredError(name)
        const handled = this.#handle(payload, call, meta.version, delivery.isOwn)
        if (this.#collector === undefined) return handled
        const limited = { call, timeout: this.#limitOf(meta, delivery) }
        return (handled as Promise<() => unknown>).then((run) => runInTime(limited, what, run))
      },
      passed: () => delivered,
      failed: (thrown, one) => this.#failed(asError(thrown), one),
      over(outcome, { call, delivery, settle }) {
        call.end()
        settle?.(delivery, outcome)
      },
      // A server may take over the queues of its process.
      get server() {
        return engines.server
      },
      transaction: this.#options.transaction,
      scope: `queue:${name}`,
    }
  }

  /** Leaves a message to a newer process, whose publishers know a version that this one does not. */
  async #giveBack(version: number, delivery: Delivery, settle?: Settle): Promise<Outcome> {
    const { name, version: own } = this.queue
    const error = QueueVersionError(name, `has the version ${version}, and this process knows ${own}`)
    if (!this.#isForeignReported)
      this.#engines.log.warn({ queue: name, version }, `${error.message}. It is given back for a newer process`)
    this.#isForeignReported = true
    const outcome: Outcome = { ok: false, error, final: false, isForeign: true }
    // Later than the delivery returns.
    await undefined
    settle?.(delivery, outcome)
    return outcome
  }

  async #failed(error: Error, { payload, call: message, meta, delivery }: Delivered): Promise<Outcome> {
    const { kind } = this.queue
    const timeout = this.#limitOf(meta, delivery)
    const { id, queue, attempt: number, attempts } = message
    // Closing has reported a message in memory for which it no longer waits as lost.
    const isLost = delivery.lost !== undefined || (kind === 'memory' && !this.#running.calls.includes(message))
    const final = isLost || isHopeless(error) || (attempts !== undefined && number >= attempts)
    const log = this.#engines.log.child({ queue, id })
    const handler = this.#engines.errorHandlerOf(this.queue)
    const call = handler && (() => handler(error, { queue, kind, id, payload, attempt: number, attempts, final }))
    if (!(await notify(call, `the error handler of the queue "${queue}"`, log, timeout))) {
      const which = attempts === undefined ? `attempt ${number}` : `attempt ${number} of ${attempts}`
      const end = final ? '; no attempts are left' : ''
      log.error({ err: error, attempt: number }, `a message of the queue "${queue}" failed in ${which}${end}`)
    }
    const { onDead } = this.#options
    if (final && onDead !== undefined)
      await notify(() => onDead(payload, error, message), `onDead of the queue "${queue}"`, log, timeout)
    return { ok: false, error, final }
  }

  #handle(payload: unknown, message: QueueMessage, from = 1, isOwn = false): unknown {
    const { check, name, version } = this.queue
    // The engine may have other publishers, and a handler that merges the payload would change the prototype of its target.
    if (!isOwn && reachesPrototype(payload)) throw QueuePayloadError(name, dangerous)
    if (from < version) return this.#upgraded(payload, message, from)
    return check === undefined
      ? this.#handler(payload, message)
      : check(payload).then((value) => this.#handler(value, message))
  }

  async #upgraded(payload: unknown, message: QueueMessage, from: number): Promise<unknown> {
    const { check, upgrade } = this.queue
    const value = await upgrade!(payload, from)
    return this.#handler(check === undefined ? value : await check(value), message)
  }
}
