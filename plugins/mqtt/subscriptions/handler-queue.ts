import { Trace, type TraceOutcome } from '../../../kernel/index.ts'
import { type Attempt, type Attempts, attempt } from '../../shared/work/attempt.ts'
import { type Carrier, carrierOf } from '../../shared/work/carrier.ts'
import { Call, Running } from '../../shared/work/running.ts'
import { MqttHandlerError } from '../errors.ts'
import { notifyFailure } from '../failures.ts'
import type { Incoming } from '../links/contract.ts'
import { messageOf } from '../messages/payload.ts'
import type { RunParts } from '../options.ts'
import type { Declared } from './declarations.ts'

/** A message that one handler processes. */
export interface MqttMessageTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The topic that the message was published to. */
  readonly topic: string
  /** The filter of the handler's subscription. */
  readonly filter: string
  /** The length of the payload. */
  readonly bytes: number
  /** The bytes as the broker sent them. */
  readonly payload: Uint8Array
  /** What the publisher put into `MqttPublishTrace.carrier`. Any client that publishes to the topic can set it. */
  readonly carrier: Readonly<Carrier>
}

const messageTrace = new Trace<MqttMessageTrace>('mqtt.message')

/** A message on its way through its one attempt. */
type Delivered = Attempt & { readonly message: Incoming }

interface Job {
  readonly message: Incoming
  readonly done: () => void
}

/** More than one read of a socket can contain: no handler begins before the whole read has been processed. */
const defaultMaxWaiting = 10_000

/** Ten thousand messages of a megabyte would fill the memory of a machine. */
const mostWaitingBytes = 64 * 2 ** 20

/** For how many topics a handler remembers what it has received. */
const mostRemembered = 100_000

/** One handler, with the messages that wait for it. */
export class HandlerQueue {
  readonly declared: Declared
  readonly #run: RunParts
  readonly #waiting: Job[] = []
  /** Bytes of the waiting messages. */
  #size = 0
  readonly #running = new Running()
  /** The digest of the last retained message of this connection by topic. */
  readonly #kept = new Map<string, number>()
  /** The digest of the last message by topic, live or retained. */
  readonly #last = new Map<string, number>()
  readonly #attempts: Attempts<Delivered, MqttMessageTrace, void>
  #isRefusing = false
  #isDropping = false

  constructor(declared: Declared, run: RunParts) {
    this.declared = declared
    this.#run = run
    this.#attempts = this.#attemptsFor(run)
  }

  get isRunning(): boolean {
    return this.#running.count > 0
  }

  /**
   * Notes a message; returns whether it is new to this handler. The broker sends a retained message again when another handler subscribes,
   * and when the connection is back: then it may have changed, and the session has no messages of QoS 0.
   */
  isNew({ topic, retain }: Incoming['details'], digest: number): boolean {
    // By content: a message that the connection before has left comes first, and then the one that has taken its place.
    const isKnown = this.#kept.get(topic) === digest || this.#last.get(topic) === digest
    if (this.#last.has(topic) || this.#last.size < mostRemembered) {
      this.#last.set(topic, digest)
      if (retain) this.#kept.set(topic, digest)
    }
    return !retain || !isKnown
  }

  /** Called when the connection is back: the broker will send its retained messages again. */
  reconnected(resumed: boolean): void {
    this.#kept.clear()
    if (!resumed) this.#last.clear()
  }

  /** Adds a message; `done` is called once, when the handler has finished or will not begin. */
  push(message: Incoming, done: () => void): void {
    const { concurrency = 1, maxWaiting = defaultMaxWaiting } = this.declared.options
    if (this.#isRefusing) return
    if (this.#running.count < concurrency) return void this.#begin({ message, done })
    const size = this.#size + message.payload.byteLength
    const isFull = this.#waiting.length >= maxWaiting || (this.#waiting.length > 0 && size > mostWaitingBytes)
    // The broker sends no more messages of QoS 1 and 2 than the window allows; of QoS 0 it sends all.
    if (message.details.qos === 0 && isFull) {
      this.#dropped(message)
      // It has not had this state, which the broker may send again.
      for (const seen of [this.#last, this.#kept]) seen.delete(message.details.topic)
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
    void notifyFailure(MqttHandlerError(filter.text, why), { subscription: filter.text, topic, payload }, this.#run.log)
  }

  #begin({ message, done }: Job): void {
    const call = new Call(this.#running)
    const { timeout = this.#run.settings.handlerTimeout } = this.declared.options
    // Never rejects.
    void attempt(this.#attempts, { call, timeout, message }).then(() => {
      call.end()
      done()
      this.#fill()
    })
  }

  /** Begins waiting messages, up to the concurrency. */
  #fill(): void {
    const { concurrency = 1 } = this.declared.options
    while (this.#running.count < concurrency && this.#waiting.length > 0) {
      const next = this.#waiting.shift()!
      this.#size -= next.message.payload.byteLength
      this.#begin(next)
    }
    if (this.#waiting.length === 0) this.#isDropping = false
  }

  #attemptsFor({ server, log }: RunParts): Attempts<Delivered, MqttMessageTrace, void> {
    const { filter, options, check, handler } = this.declared
    return {
      trace: messageTrace,
      event({ message: { payload, details } }) {
        const carrier = carrierOf(details.userProperties) ?? {}
        return { server, topic: details.topic, filter: filter.text, bytes: payload.byteLength, payload, carrier }
      },
      what: `the subscription "${filter.text}": the handler`,
      run({ message: { payload, details }, call }) {
        const given = options.raw ? payload : messageOf(payload)
        const handle = (message: unknown) => {
          const args = filter.isPattern ? [details.topic, message] : [message]
          return handler(...(options.details ? [...args, { ...details, signal: call.signal }] : args))
        }
        return check === undefined ? handle(given) : check(details.topic, given).then(handle)
      },
      passed() {},
      failed: (error, { message: { payload, details }, timeout }) =>
        notifyFailure(error, { subscription: filter.text, topic: details.topic, payload }, log, timeout),
      server,
      transaction: options.transaction,
      scope: `mqtt:${filter.text}`,
    }
  }

  async idle(): Promise<void> {
    // The next waiting message begins when a call has ended.
    while (this.#running.count > 0) await this.#running.idle()
  }

  /** Takes no further messages; messages of QoS 1 and 2 are left to the broker, which sends them again if it can. */
  refuse(): void {
    this.#isRefusing = true
  }

  /** Drops the messages, which are no longer needed. */
  drop(): void {
    this.refuse()
    this.#size = 0
    for (const job of this.#waiting.splice(0)) job.done()
  }

  /** Begins no further message, and leaves the waiting ones to the broker as well. */
  close(): void {
    this.refuse()
    this.#waiting.length = 0
    this.#running.abandon(new Error('closing no longer waits for the handlers of MQTT'))
  }
}
