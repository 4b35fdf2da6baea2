import type { GenericPubSub, QueueConfig } from 'framework'
import type { QueueFeature } from '../portable-queue.ts'

/** An engine, as the cases need it. */
export interface EngineUnderTest {
  readonly kind: string
  /** Its configuration, for servers that have the same messages. */
  config(): QueueConfig | Promise<QueueConfig>
  /** Options and features that it cannot have. */
  readonly lacks?: readonly QueueFeature[]
  /** Milliseconds to which it rounds times. Default 1. */
  readonly step?: number
  /** Whether two servers have the same messages. Default true. */
  readonly isShared?: boolean
  /** Makes a queue, where the engine does not. */
  prepare?(name: string, attempts: number): Promise<unknown>
}

export interface PortableCase {
  readonly name: string
}

/** The cases for an engine. */
export function portableCases(engine: Omit<EngineUnderTest, 'config'>): PortableCase[]
/** Runs one case; those that run at the same time with the same engine share a server. */
export function runCase(engine: EngineUnderTest, one: PortableCase): Promise<void>
/** An engine of the application that can have every portable option. */
export function ownEngine(): GenericPubSub
/** What SQS cannot have. */
export const lackedBySqs: readonly QueueFeature[]
/** What the engine of one process, or the others, do not have to show. */
export const lackedByAll: readonly QueueFeature[]
