import { type Logger, Trace, type TraceOutcome, within } from '../../../kernel/index.ts'
import { type Carrier, carrierOf } from '../../toolkit/carrier.ts'
import { deferred } from '../deferred.ts'
import { MqttHandlerError } from '../errors.ts'
import { notifyFailure } from '../failures.ts'
import type { Incoming } from '../links/contract.ts'
import { messageOf } from '../messages/payload.ts'
import type { Declared } from './declarations.ts'

/** A message in the hands of one handler. */
export interface MqttMessageTrace extends TraceOutcome {
  readonly topic: string
  /** What the handler has subscribed to. */
  readonly filter: string
  readonly bytes: number
  readonly payload: Uint8Array
  /** What the publisher has put into {@link MqttPublishTrace.carrier}. Whoever publishes to the topic can write it. */
  readonly carrier: Readonly<Carrier>
}

const messageTrace = new Trace<MqttMessageTrace>('mqtt.message')

interface Job {
  readonly message: Incoming
  readonly done: () => void
}

/** More than what one read of a socket can hold: no handler begins before all of that has come. */
const defaultMaxWaiting = 10_000

/** Ten thousand messages of a megabyte would be the memory of a machine. */
const mostWaitingBytes = 64 * 2 ** 20

/** How many topics are remembered of whose kept message a handler was told. */
const mostRemembered = 100_000

/** The queue that each subscription has had last. */
const queues = new WeakMap<Declared, HandlerQueue>()

/** One handler with the messages that wait for it. */
export class HandlerQueue {
  readonly declared: Declared
  readonly #timeout: number
  readonly #log: Logger
  readonly #waiting: Job[] = []
  /** Bytes of those that wait. */
  #size = 0
  readonly #running = new Set<Promise<void>>()
  readonly #kept = new Set<string>()
  readonly #closed = deferred()
  /** Resolves when what an earlier queue of this subscription has begun is over; `undefined` where nothing is. */
  #earlier: Promise<void> | undefined
  #isRefusing = false
  #isDropping = false

  constructor(declared: Declared, timeout: number, log: Logger) {
    this.declared = declared
    this.#timeout = declared.options.handlerTimeout ?? timeout
    this.#log = log
    // Another connection may take a subscription over while its handler runs: `concurrency` is a promise across both.
    this.#earlier = queues
      .get(declared)
      ?.over()
      ?.then(() => {
        this.#earlier = undefined
        this.#fill()
      })
    queues.set(declared, this)
  }

  /** Resolves when no handler runs any more, or none is waited for; `undefined` where none runs. */
  over(): Promise<void> | undefined {
    return this.#running.size === 0 ? this.#earlier : Promise.race([this.idle(), this.#closed.promise])
  }

  /**
   * Whether a kept message of the topic is new to this handler. The broker sends it to everyone who subscribes; a second
   * subscription to the same filter makes it send it to the first once more.
   */
  isNew(topic: string): boolean {
    if (this.#kept.has(topic)) return false
    if (this.#kept.size < mostRemembered) this.#kept.add(topic)
    return true
  }

  /** The broker has forgotten the subscription, and sends what it keeps again. */
  forgetKept(): void {
    this.#kept.clear()
  }

  /** `done` is called once, when the handler has finished or will not begin. */
  push(message: Incoming, done: () => void): void {
    const { concurrency = 1, maxWaiting = defaultMaxWaiting } = this.declared.options
    if (this.#isRefusing) return
    if (this.#earlier === undefined && this.#running.size < concurrency) {
      this.#run({ message, done })
      return
    }
    const size = this.#size + message.payload.byteLength
    const isFull = this.#waiting.length >= maxWaiting || (this.#waiting.length > 0 && size > mostWaitingBytes)
    // Of QoS 1 and 2 the broker sends no more than it may have unacknowledged; of QoS 0 it sends what there is.
    if (message.details.qos === 0 && isFull) {
      this.#dropped(message)
      done()
      return
    }
    this.#size = size
    this.#waiting.push({ message, done })
  }

  #dropped({ payload, details: { topic } }: Incoming): void {
    if (this.#isDropping) return
    this.#isDropping = true
    const { filter } = this.declared
    const why = `messages of QoS 0 arrive faster than the handler finishes, and ${this.#waiting.length} with ${this.#size} bytes are waiting: further messages are dropped. Raise concurrency or maxWaiting, or subscribe with qos: 1`
    void notifyFailure(MqttHandlerError(filter.text, why), { subscription: filter.text, topic, payload }, this.#log)
  }

  #run(job: Job): void {
    const run = this.#handle(job.message).then(() => {
      this.#running.delete(run)
      job.done()
      this.#fill()
    })
    this.#running.add(run)
  }

  /** Begins with what waits, as far as there is room. */
  #fill(): void {
    const { concurrency = 1 } = this.declared.options
    while (this.#running.size < concurrency && this.#waiting.length > 0) {
      const next = this.#waiting.shift()!
      this.#size -= next.message.payload.byteLength
      this.#run(next)
    }
    if (this.#waiting.length === 0) this.#isDropping = false
  }

  /** Never rejects. */
  async #handle({ payload, details }: Incoming): Promise<void> {
    const { filter, options, check, handler } = this.declared
    const { topic } = details
    const handle = async () => {
      const given = options.raw ? payload : messageOf(payload)
      const message = check === undefined ? given : await check(topic, given)
      const args = filter.isPattern ? [topic, message] : [message]
      return handler(...(options.details ? [...args, details] : args))
    }
    const event = (): MqttMessageTrace => {
      const carrier = carrierOf(details.userProperties) ?? {}
      return { topic, filter: filter.text, bytes: payload.byteLength, payload, carrier }
    }
    const call = () => messageTrace.run(event, handle)
    try {
      await within(call(), this.#timeout, () => {
        const why = `the handler has not finished within ${this.#timeout} ms. It may continue, but the next message does not wait for it. The option handlerTimeout sets this limit`
        throw MqttHandlerError(filter.text, why)
      })
    } catch (error) {
      await notifyFailure(error, { subscription: filter.text, topic, payload }, this.#log)
    }
  }

  async idle(): Promise<void> {
    await this.#earlier
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Takes no other message: those of QoS 1 and 2 are left to the broker, which sends them again where it can. */
  refuse(): void {
    this.#isRefusing = true
  }

  /** No one wants its messages any more. */
  drop(): void {
    this.refuse()
    this.#size = 0
    for (const job of this.#waiting.splice(0)) job.done()
  }

  /** Begins no other message, and leaves to the broker what waits as well. */
  close(): void {
    this.refuse()
    this.#waiting.length = 0
    this.#closed.resolve()
  }
}
