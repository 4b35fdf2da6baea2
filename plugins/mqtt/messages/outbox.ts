import { systemClock, type Timer } from '../../../kernel/index.ts'
import { type Deferred, deferred } from '../../shared/values/promises.ts'
import { MqttFullError, MqttUnavailableError } from '../errors.ts'
import { LinkLost, type Outgoing, type Patience } from '../links/contract.ts'
import type { RunParts } from '../options.ts'

/** A message that the broker does not have yet. */
interface Entry extends Patience {
  readonly message: Outgoing
  readonly number: number
  readonly done: Deferred<void>
  readonly timer: Timer
  isEnded: boolean
}

/** How many messages of QoS 0 are passed to a connection that cannot write any more: each has a listener there. */
const mostUnwritten = 500

/** Sends messages in order, immediately while the broker is connected; waiting ones are limited in number, size and time. */
export class Outbox {
  readonly #run: RunParts
  /** In order of their numbers. */
  readonly #waiting: Entry[] = []
  readonly #underWay = new Set<Entry>()
  #size = 0
  #last = 0
  #isUp = false
  #whyDown: Error | undefined

  constructor(run: RunParts) {
    this.#run = run
  }

  /** @throws (as a rejection) MqttFullError, MqttUnavailableError, MqttPublishError, MqttPayloadError */
  publish(message: Outgoing): Promise<void> {
    const { maxQueued, maxQueuedSize, publishTimeout } = this.#run.settings
    if (this.#waiting.length >= maxQueued) return Promise.reject(MqttFullError(this.#waiting.length, 'maxQueued'))
    const size = message.payload.byteLength
    if (this.#size > 0 && this.#size + size > maxQueuedSize)
      return Promise.reject(MqttFullError(this.#waiting.length, 'maxQueuedSize'))
    const done = deferred()
    const timer = systemClock.setTimeout(() => this.#late(entry), publishTimeout)
    const number = ++this.#last
    const entry: Entry = { message, number, done, timer, isEnded: false, isOver: false, whenOver: undefined }
    this.#waiting.push(entry)
    this.#size += size
    this.#sendWaiting()
    return done.promise
  }

  /** The broker is connected, and the subscriptions are restored. */
  up(): void {
    this.#isUp = true
    this.#sendWaiting()
  }

  down(why: Error): void {
    this.#isUp = false
    this.#whyDown = why
  }

  /** Resolves when no message is waiting or unacknowledged. */
  async idle(): Promise<void> {
    while (this.#waiting.length + this.#underWay.size > 0)
      await Promise.allSettled([...this.#waiting, ...this.#underWay].map((entry) => entry.done.promise))
  }

  /** Rejects all remaining messages. */
  close(): void {
    this.#isUp = false
    const why = MqttUnavailableError('the service stopped before the broker acknowledged the message')
    for (const entry of [...this.#waiting.splice(0), ...this.#underWay]) {
      this.#end(entry, why)
      giveUp(entry)
    }
  }

  #sendWaiting(): void {
    while (this.#isUp && this.#waiting.length > 0) {
      const entry = this.#waiting[0]!
      const isAcknowledged = (entry.message.options.qos ?? 0) > 0
      const most = isAcknowledged ? this.#run.link.window : mostUnwritten
      if (this.#underWay.size >= most) return
      this.#waiting.shift()
      this.#underWay.add(entry)
      void this.#send(entry)
    }
  }

  async #send(entry: Entry): Promise<void> {
    try {
      await this.#run.link.publish(entry.message, entry)
      this.#end(entry)
    } catch (error) {
      if (error instanceof LinkLost && !entry.isEnded) this.#putBack(entry)
      else this.#end(entry, error)
    }
    this.#sendWaiting()
  }

  #putBack(entry: Entry): void {
    this.#underWay.delete(entry)
    const after = this.#waiting.findIndex((other) => other.number > entry.number)
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, entry)
  }

  #late(entry: Entry): void {
    const { publishTimeout, address } = this.#run.settings
    const wasSent = this.#underWay.has(entry)
    const why = this.#whyDown !== undefined && !this.#isUp ? `: ${this.#whyDown.message}` : ''
    const known = wasSent ? 'It was sent and may have arrived' : 'It was not sent and will not be'
    const error = MqttUnavailableError(
      `the broker ${address.shown} has not accepted the message for the topic "${entry.message.topic}" within ${publishTimeout} ms. ${known}${why}`,
    )
    const index = this.#waiting.indexOf(entry)
    if (index !== -1) this.#waiting.splice(index, 1)
    this.#end(entry, Object.assign(error, { cause: this.#whyDown }))
    giveUp(entry)
    this.#sendWaiting()
  }

  /** Settles an entry once. */
  #end(entry: Entry, error?: unknown): void {
    if (entry.isEnded) return
    entry.isEnded = true
    systemClock.clear(entry.timer)
    this.#underWay.delete(entry)
    this.#size -= entry.message.payload.byteLength
    if (error === undefined) entry.done.resolve()
    else entry.done.reject(error)
  }
}

function giveUp(patience: Patience): void {
  patience.isOver = true
  patience.whenOver?.()
}
