import type { SupervisedServer, WorkerPlace, Workers } from '../../../kernel/support/worker.ts'
import { processWide } from './process-wide.ts'

/** The supervisor of several processes, as each of the processes sees it. */
export interface Supervisor {
  readonly share: NonNullable<Workers['share']>
  /** A server is about to listen. */
  starting(): SupervisedServer
  /** Whether this process does the work that only one may do. */
  readonly leads: boolean
  /** Calls `run` when this process takes over that work. */
  onLead(run: () => void): void
  /** Asks the process that leads; rejects if no process leads at this moment, or if it does not respond. */
  ask(topic: string, question: unknown): Promise<unknown>
  /** Responds to questions on a topic when this process leads. */
  answer(topic: string, answer: (question: unknown) => unknown): void
}

/** The supervisor, which exists only under `framework start`. */
export const { get: supervisor, set: setSupervisor } = processWide<Supervisor>('supervisor')

/**
 * Whether this process does the work that only one of several may do.
 *
 * @example
 * isLeading(undefined) // true: a single process always leads
 */
export const isLeading = (place: WorkerPlace | undefined): boolean =>
  supervisor()?.leads ?? (place === undefined || place.number === 1)
