import { defineError } from './errors.ts'

/** The place of this process among several that do the same work. */
export interface WorkerPlace {
  /** The number of this worker, from 1; a process that replaces another has its number. */
  readonly number: number
  /** How many workers there are. */
  readonly of: number
}

/** Receives the events of a server's life. */
export interface SupervisedServer {
  listens(): void
  /** The server will not listen. */
  failed(): void
  closed(): void
}

/** The supervisor of several processes, as each of the processes sees it. */
export interface Supervisor {
  /**
   * The port to bind, which all of them share: for 0, the same free one for all.
   *
   * Rejects as binding would if any other process has the port.
   */
  share(host: string, port: number): Promise<number>
  /** A server is about to listen. */
  starting(): SupervisedServer
  /** Whether this process does the work that only one may do. */
  readonly leads: boolean
  /** Calls `run` when this process takes over that work. */
  onLead(run: () => void): void
  /** Asks the process that leads; rejects if no process leads at this moment, or if it does not answer. */
  ask(topic: string, question: unknown): Promise<unknown>
  /** Answers questions on a topic when this process leads. */
  answer(topic: string, answer: (question: unknown) => unknown): void
}

const WorkerVariableError = defineError(
  'WorkerVariableError',
  500,
  (given: string) =>
    `FRAMEWORK_WORKER is ${JSON.stringify(given)}; it takes the number of this worker and how many there are, such as "2/4". The process manager sets it; leave it out for a single process`,
)
/** The place of this process, if its process manager has set one. */
export function workerPlace(): WorkerPlace | undefined {
  const given = variable()
  if (given === undefined || given === '') return undefined
  const [, number, of] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(given) ?? []
  if (number === undefined || Number(number) > Number(of)) throw WorkerVariableError(given)
  return { number: Number(number), of: Number(of) }
}

/** Reads the variable; Deno throws where the permission is missing. */
function variable(): string | undefined {
  try {
    return process.env.FRAMEWORK_WORKER
  } catch {
    return undefined
  }
}

// Set before the application is loaded, which may have another copy of this package.
const mark = Symbol.for('framework.supervisor')

export function setSupervisor(supervisor: Supervisor): void {
  Object.assign(globalThis, { [mark]: supervisor })
}

/** The supervisor, which exists only under `framework start`. */
export function supervisor(): Supervisor | undefined {
  return (globalThis as { readonly [mark]?: Supervisor })[mark]
}

/**
 * Whether this process does the work that only one of several may do.
 *
 * @example
 * isLeading(undefined) // true: a single process always leads
 */
export function isLeading(place: WorkerPlace | undefined): boolean {
  return supervisor()?.leads ?? (place === undefined || place.number === 1)
}

/** How the processes of an application share a port; `undefined` for a single one. */
export function sharing(place: WorkerPlace | undefined): Supervisor['share'] | undefined {
  if (place === undefined) return undefined
  return supervisor()?.share ?? (async (_host, port) => port)
}
