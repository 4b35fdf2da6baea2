import { Declarations } from '../shared/work/declarations.ts'
import { Mounts } from '../shared/work/mounts.ts'
import type { EngineRef, Unresolved } from './engines.ts'
import type { QueueService } from './service.ts'
import type { SubscribedQueue, Subscriber } from './subscription.ts'

/** A queue, for code that lists them all. */
export interface DeclaredQueue extends SubscribedQueue {
  /** Checks the options that its messages have by default. @throws OptionError if an engine cannot have them. */
  settings(engine: EngineRef): void
  publish(payload: unknown): Promise<{ id: string }>
}

const declared = new Map<string, Unresolved<DeclaredQueue>>()

/** Adds a queue; of several with the same kind and name, the newest counts. */
export function declareQueue(queue: Unresolved<DeclaredQueue>): void {
  declared.set(`${queue.kind} ${queue.name}`, queue)
}

/** Every queue that a module of this process has made, the newest of each name and kind. */
export const allQueues = (): Unresolved<DeclaredQueue>[] => [...declared.values()]

/** The subscribers of this process. They may be declared anywhere, and each server runs all of them. */
export const subscribers = new Declarations<Subscriber, QueueService>()

/** The servers with queues. */
export const servers = new Mounts<QueueService>('Say which: queue.for(server)')
