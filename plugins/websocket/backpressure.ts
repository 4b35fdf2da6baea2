import { systemClock, type Timer } from '../../kernel/index.ts'
import type { Closing } from './socket-route.ts'

/** How many messages may wait for the handler, and how many bytes, as a multiple of the longest message. */
const maxQueued = { messages: 1000, longest: 4 }

/** Milliseconds between checks of a slow reader. */
const lookMs = 50

/**
 * The data of a socket while one side is slower than the other, or while it opens or closes. Most sockets never have it: with
 * all of it in each, a socket took 1.8 kB on Bun instead of 1.4.
 */
export class Backpressure {
  queue: (string | Uint8Array)[] | undefined = undefined
  #queued = 0
  isPaused = false
  /** With 'wait': whether more bytes than the limit wait for the client, so that its messages are not handled. */
  isBlocked = false
  /** Whether more messages wait for their handler than allowed. */
  isFull = false
  bufferedAtPing = 0
  #look: Timer | undefined = undefined
  /** Callbacks that wait for buffered messages to be sent. */
  readonly waiting: (() => void)[] = []
  /** A close that was requested before the connection was open. */
  closeWith: Closing | undefined = undefined
  /** The end of a connection that ended while a handler was running. */
  ended: Closing | undefined = undefined

  /** Keeps a message for the handler. Returns whether there are now too many. */
  enqueue(message: string | Uint8Array, maxMessageSize: number): boolean {
    this.queue ??= []
    this.queue.push(message)
    this.#queued += message.length
    const isFull = this.queue.length > maxQueued.messages || this.#queued > maxMessageSize * maxQueued.longest
    this.isFull ||= isFull
    return isFull
  }

  /** The message that is handled next. */
  next(): string | Uint8Array | undefined {
    const next = this.queue?.shift()
    this.#queued -= next?.length ?? 0
    if ((this.queue?.length ?? 0) < maxQueued.messages / 2) this.isFull = false
    return next
  }

  /** Forgets the messages that wait for the handler: the server no longer wants them. */
  discard(): void {
    this.queue = undefined
    this.#queued = 0
    this.isFull = false
  }

  get isLookingOut(): boolean {
    return this.#look !== undefined
  }

  /** Checks again and again until all waiting callers have been called. */
  lookOut(look: () => void): void {
    this.#look ??= systemClock.setInterval(look, lookMs)
    this.#look.unref()
  }

  wake(): void {
    systemClock.clear(this.#look)
    this.#look = undefined
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

/** How many messages a client may still send: a bucket that fills at a steady rate and holds two seconds' worth. */
export class TokenBucket {
  readonly #perSecond: number
  #left: number
  #countedAt = 0

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#left = perSecond * 2
  }

  /** Takes one message from the bucket, if there is one. */
  take(): boolean {
    const now = systemClock.monotonic()
    if (this.#countedAt !== 0)
      this.#left = Math.min(this.#perSecond * 2, this.#left + ((now - this.#countedAt) / 1000) * this.#perSecond)
    this.#countedAt = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
