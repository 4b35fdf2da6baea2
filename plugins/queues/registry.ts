import type { EngineRef, Unresolved } from '../shared/engines/custom.ts'
import type { SubscribedQueue } from './subscription.ts'

/** A queue, for code that lists them all. */
export interface DeclaredQueue extends SubscribedQueue {
  /** Checks the options that its messages have by default. @throws OptionError if an engine cannot have them. */
  settings(engine: EngineRef): void
}

export const declared = new Map<string, Unresolved<DeclaredQueue>>()

/** Adds a queue; of several with the same kind and name, the newest counts. */
export function declareQueue(queue: Unresolved<DeclaredQueue>): void {
  declared.set(`${queue.kind} ${queue.name}`, queue)
}

/** Every queue that a module of this process has made, the newest of each name and kind. */
export const allQueues = (): Unresolved<DeclaredQueue>[] => [...declared.values()]
