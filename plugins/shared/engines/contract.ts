import type { Outcome } from '../work/local-queue.ts'
import type { Meta } from './meta.ts'

/** One delivery of a message, as the engine counts it. */
export interface Delivery {
  readonly id: string
  /** 1 for the first. */
  readonly attempt: number
  /** The maximum number of attempts; `undefined` where only the engine knows it. */
  readonly attempts: number | undefined
  /** What was published with it; not checked. */
  readonly meta?: unknown
  /** Whether it comes from `publish` of this process, which has refused dangerous payloads. */
  readonly isOwn?: boolean
  /** Why its engine has given it up: no handler gets it. */
  readonly lost?: Error
  /** Milliseconds after which the engine gives the message to another subscriber, so that the attempt has failed. */
  readonly timeout?: number
}

/** Receives the outcome of a delivery, before its promise has it. */
export type Settle = { settle(delivery: Delivery, outcome: Outcome): void }['settle'] | undefined

/** Passes a message to its subscriber. Never rejects. */
export type Deliver = (payload: unknown, delivery: Delivery, settle?: Settle) => Promise<Outcome>

/** One subscriber at work. */
export interface Consumer {
  /** Passes no more messages to the handler once it has resolved; those in progress are finished. */
  stop(): void | Promise<void>
  /** Resolves after `stop`, when no message is in progress any more. */
  readonly ended: Promise<void>
  /** For an engine that reports whether it accepts the subscriber: rejects if it does not. */
  readonly begun?: Promise<void>
}

/** How many messages a queue has, by their state. */
export interface QueueCounts {
  /** Messages that are ready to be taken. */
  readonly waiting: number
  /** Messages that are being handled at this moment. */
  readonly active: number
  /** Messages that are due later: published with a delay, or between two attempts. */
  readonly delayed: number
  /** Messages that were given up after the last attempt, and are kept. */
  readonly failed: number
  /** Milliseconds for which the oldest ready message has waited, 0 without one. Missing for an engine that does not report it: SQS. */
  readonly oldest?: number
}

/** What a message is doing. `failed`: it was given up, and is kept. */
export type MessageState = 'waiting' | 'active' | 'delayed' | 'failed'
export const messageStates: readonly MessageState[] = ['waiting', 'active', 'delayed', 'failed']

/** The error of one attempt. */
export interface MessageFailure {
  /** The message of the error. */
  readonly message: string
  /** Its stack, if the engine keeps it. */
  readonly stack?: string | undefined
}

/** A message as its engine has it. */
export interface StoredMessage {
  /** The id in the engine. */
  readonly id: string
  /** What it is doing. */
  readonly state: MessageState
  /** The payload, without what travels beside it. */
  readonly payload: unknown
  /** The number of attempts so far. */
  readonly attempt: number
  /** The maximum number of attempts; `undefined` where only the engine knows it. */
  readonly attempts: number | undefined
  /** Milliseconds since 1970. */
  readonly publishedAt: number | undefined
  /** When it is due, if that is later. */
  readonly dueAt?: number | undefined
  /** The errors of its attempts that the engine keeps, the oldest first. */
  readonly errors: readonly MessageFailure[]
  /** What was published with it; not checked. */
  readonly meta?: unknown
  /** Where the application has published it, in a test whose queues are in memory. */
  readonly site?: string | undefined
}

/** Looks after the messages of one queue. An id is that of the engine, or that of the publisher. */
export interface QueueOperations {
  /** Messages in one state: those that will be taken first, or that failed last; from an offset. */
  list(topic: string, state: MessageState, from: number, limit: number): Promise<readonly StoredMessage[]>
  /** Returns one message; `undefined` without it. */
  find(topic: string, id: string): Promise<StoredMessage | undefined>
  /** Gives failed messages all their attempts again; returns how many of these it has found. */
  retry(topic: string, ids: readonly string[]): Promise<number>
  /** Removes messages that are not being handled; returns how many of these it has found. */
  remove(topic: string, ids: readonly string[]): Promise<number>
  /** Stops the delivery of messages to all processes. */
  pause(topic: string): Promise<void>
  /** Continues the delivery. */
  resume(topic: string): Promise<void>
  /** Whether the queue is paused. */
  isPaused(topic: string): Promise<boolean>
}

/** Messages that are published together. */
export interface Batch<Options> {
  /** The payloads as JSON. */
  readonly texts: readonly string[]
  /** The options of each. */
  readonly options: readonly (Options | undefined)[]
  /** What is stored with each, invisible to handlers, for all attempts. */
  readonly metas: readonly (Readonly<Meta> | undefined)[]
  /** Messages that are unsent when it aborts must not be sent later. */
  readonly signal: AbortSignal
}

/**
 * One engine. Connects when it is first needed, reconnects when the connection is lost, and rejects calls that it cannot serve now. When a
 * signal aborts, its caller no longer waits: nothing may be kept for it.
 */
export interface QueueDriver<Options = never> {
  /** Returns one id for each message once the engine has them. */
  publish(topic: string, batch: Batch<Options>): string[] | Promise<string[]>
  /** Returns immediately; an unreachable engine is retried until it can be reached. */
  consume(topic: string, deliver: Deliver, options: { readonly concurrency: number }): Consumer
  counts(topic: string, signal: AbortSignal): Promise<QueueCounts>
  /** What an operator can do with its messages until the signal aborts; missing for an engine that cannot. */
  operations(signal: AbortSignal): QueueOperations | undefined
  /** Rejects when the engine does not respond. */
  ping(signal: AbortSignal): Promise<void>
  /** Releases every connection. Consumers have ended before, or are given up with their messages in progress. */
  close(): Promise<void>
}

/** The environment of every driver. */
export interface DriverHost {
  /** Reports that the engine responds, as `down` reports that it does not; repeated reports are ignored. */
  up(): void
  down(error: unknown): void
  /** Reports an event that happens once and has no end. */
  warn(message: string, error: unknown): void
}
