import type { Carrier } from '../../toolkit/carrier.ts'

/** One delivery of a message, as the engine counts it. */
export interface Delivery {
  readonly id: string
  /** 1 for the first. */
  readonly attempt: number
  /** How many there are at most; `undefined` where only the engine knows. */
  readonly attempts: number | undefined
  /** What was published with it; not checked. */
  readonly carrier?: unknown
}

/** What became of a delivery. With `final` there must be no other attempt: the engine parks the message. */
export type Outcome = { readonly ok: true } | { readonly ok: false; readonly error: Error; readonly final: boolean }

/** Hands a message to its subscriber. Never rejects. */
export type Deliver = (payload: unknown, delivery: Delivery) => Promise<Outcome>

/** One subscriber at work. */
export interface Consumer {
  /** Gives no more messages to the handler once it has resolved; those in work are finished. */
  stop(): void | Promise<void>
  /** Resolves after `stop`, when nothing is in work any more. */
  readonly ended: Promise<void>
  /** Where an engine says whether it took the subscriber: rejects when not. */
  readonly begun?: Promise<void>
}

/** How many messages a queue has, by what they are waiting for. */
export interface QueueCounts {
  /** Messages that are ready to be taken. */
  readonly waiting: number
  /** Messages that a handler has at this moment. */
  readonly active: number
  /** Messages for later: published with a delay, or between two attempts. */
  readonly delayed: number
  /** Messages that were given up after the last attempt, and are kept. */
  readonly failed: number
  /** Milliseconds for which the oldest of those that are ready has waited, 0 without one. Not from an engine that does not say, such as SQS. */
  readonly oldest?: number
}

/**
 * One engine. Connects when it is first needed, connects again when it was lost, and rejects what it cannot do now. When a
 * signal aborts no one waits any more: nothing may be kept for it.
 */
export interface QueueDriver<Options = never> {
  /** Whether it lies in this process and waits for nothing, so that no call needs a deadline. */
  readonly isLocal?: boolean
  /**
   * Takes payloads as JSON; resolves with one id for each once the engine has them. What has not been sent when the signal
   * aborts must not be sent later. A carrier goes with each of them, out of sight of handlers, as long as there are attempts.
   */
  publish(
    topic: string,
    texts: readonly string[],
    options: readonly (Options | undefined)[],
    signal: AbortSignal,
    carrier?: Readonly<Carrier>,
  ): Promise<string[]>
  /** Returns at once; what cannot be reached yet is retried until it can. */
  consume(topic: string, deliver: Deliver, options: { readonly concurrency: number }): Consumer
  counts(topic: string, signal: AbortSignal): Promise<QueueCounts>
  /** Ends what a publish option has made repeat, where the engine can; whether there was something. */
  stopRepeat?(topic: string, key: string, signal: AbortSignal): Promise<boolean>
  /** Rejects when the engine does not answer. */
  ping(signal: AbortSignal): Promise<void>
  /** Lets go of every connection. Consumers have ended before, or are given up with what they have in work. */
  close(): Promise<void>
}

/** What every driver is made with. */
export interface DriverHost {
  /** Told whenever the engine is seen to answer or not; what is said twice is heard once. */
  up(): void
  down(error: unknown): void
  /** What happened once and needs no one to wait for its end. */
  warn(message: string, error: unknown): void
}
