import { clock, type Logger, type Timer } from '../../../kernel/index.ts'
import type { Incoming } from '../links/contract.ts'

/** How long a message of an earlier session waits for its handler. */
const patience = 5_000

/**
 * Keeps messages that a broker had stored for this client and that come before their handlers: a process that connects first and
 * subscribes afterwards would acknowledge unhandled messages. The broker sends no more of them than the window allows.
 */
export class Unclaimed {
  readonly #log: Logger
  readonly #messages: Incoming[] = []
  #isOpen: boolean
  #timer: Timer | undefined

  /** `isOpen`: whether the broker keeps sessions of this client. */
  constructor(log: Logger, isOpen: boolean) {
    this.#log = log
    this.#isOpen = isOpen
  }

  /** Keeps a message that has no handler, if one may still come. */
  keep(message: Incoming): void {
    if (!this.#isOpen || message.details.qos === 0) {
      message.handled()
      return
    }
    this.#messages.push(message)
    if (this.#timer !== undefined) return
    this.#timer = clock.setTimeout(() => this.#giveUp(), patience)
    this.#timer.unref()
  }

  /** Offers the kept messages to a new handler. */
  offer(give: (message: Incoming) => boolean): void {
    const left = this.#messages.filter((message) => !give(message))
    this.#messages.splice(0, this.#messages.length, ...left)
  }

  #giveUp(): void {
    this.#isOpen = false
    const topics = [...new Set(this.#messages.map((message) => message.details.topic))]
    if (topics.length > 0) {
      const fields = { topics: topics.slice(0, 10), count: this.#messages.length }
      this.#log.warn(fields, 'messages of an earlier MQTT session have no handler: they are dropped')
    }
    for (const message of this.#messages.splice(0)) message.handled()
  }

  close(): void {
    clock.clear(this.#timer)
    this.#isOpen = false
    this.#messages.length = 0
  }
}
