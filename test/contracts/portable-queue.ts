import type { Make } from './contract.ts'
import { lackedByAll, portableCases, runCase } from './portable/index.mjs'
import { configOf, type EngineSource, type QueueContractOptions } from './queue-engine.ts'

/** What an engine cannot have of what `queue(name)` promises. */
export type QueueFeature =
  | 'priority'
  | 'id'
  | 'repeat'
  | 'pause'
  | 'operations'
  | 'oldest'
  | 'order'
  | 'default attempts'
  | 'attempts of its own'
  | 'dead letter queue'

/** An engine, with its differences. */
export interface PortableQueueOptions extends QueueContractOptions {
  /** What the engine cannot have; its tests are left out, and tests that it is refused take their place. Default: a dead letter queue of the service. */
  readonly lacks?: readonly QueueFeature[]
  /** Milliseconds to which the engine rounds times. Default 1. */
  readonly step?: number
  /** Whether two servers have the same messages. Default true. */
  readonly isShared?: boolean
}

/**
 * Tests what the functions of `queue(name)` promise on every engine: attempts, backoff, delays, ids, repetitions, versions, batches,
 * the operations of an operator. Tests that run at the same time share a server. `make` is called for each, and two servers with what it returns must have the same messages.
 *
 * @example
 * testPortableQueue(() => new PostgresMessages(pool), { test, lacks: ['priority', 'id', 'repeat', 'pause', 'operations'] })
 */
export function testPortableQueue(make: Make<EngineSource>, options: PortableQueueOptions): void {
  const { test, kind = 'own', lacks = lackedByAll, ...engine } = options
  const own = { ...engine, kind, lacks, config: () => configOf(make, kind) }
  for (const one of portableCases(own)) test(`the portable queue: ${one.name}`, () => runCase(own, one))
}
