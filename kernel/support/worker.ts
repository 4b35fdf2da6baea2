import { defineError } from './errors.ts'

/** Which one of several processes that do the same this one is. */
export interface WorkerPlace {
  /** From 1 on; who takes the place of another has its number. */
  readonly number: number
  /** How many workers there are. */
  readonly of: number
}

/** Tells what becomes of a server. */
export interface SupervisedServer {
  listens(): void
  /** It will not listen. */
  failed(): void
  closed(): void
}

/** What starts several processes and looks after them, as each of them sees it. */
export interface Supervisor {
  /**
   * The port to bind, which all of them share: where 0 is asked for, the same for all.
   *
   * Rejects as binding would when a process that is not one of them has it.
   */
  share(host: string, port: number): Promise<number>
  /** A server is about to listen. */
  starting(): SupervisedServer
  /** Whether this process is the one that does what only one may do. */
  readonly leads: boolean
  /** Calls when this process becomes that one. */
  onLead(run: () => void): void
  /** Asks that one; rejects when there is none at this moment, or it does not answer. */
  ask(topic: string, question: unknown): Promise<unknown>
  /** Answers when this process is that one. */
  answer(topic: string, answer: (question: unknown) => unknown): void
}

const WorkerVariableError = defineError(
  'WorkerVariableError',
  500,
  (given: string) =>
    `FRAMEWORK_WORKER is ${JSON.stringify(given)}; it takes the number of this worker and how many there are, such as "2/4". The process manager sets it; leave it out for a single process`,
)
/** The place of this process, where its process manager has set one. */
export function workerPlace(): WorkerPlace | undefined {
  const given = variable()
  if (given === undefined || given === '') return undefined
  const [, number, of] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(given) ?? []
  if (number === undefined || Number(number) > Number(of)) throw WorkerVariableError(given)
  return { number: Number(number), of: Number(of) }
}

/** Deno throws where it is not allowed to read it. */
function variable(): string | undefined {
  try {
    return process.env.FRAMEWORK_WORKER
  } catch {
    return undefined
  }
}

// Brought before the application is loaded, which may have another copy of this package.
const mark = Symbol.for('framework.supervisor')

export function setSupervisor(supervisor: Supervisor): void {
  Object.assign(globalThis, { [mark]: supervisor })
}

/** There is one under `framework start`, and nowhere else. */
export function supervisor(): Supervisor | undefined {
  return (globalThis as { readonly [mark]?: Supervisor })[mark]
}

/**
 * Whether this process does what only one of several may do.
 *
 * @example
 * isLeading(undefined) // true: a single process leads itself
 */
export function isLeading(place: WorkerPlace | undefined): boolean {
  return supervisor()?.leads ?? (place === undefined || place.number === 1)
}

/** How the processes of an application share a port; `undefined` for a single one. */
export function sharing(place: WorkerPlace | undefined): Supervisor['share'] | undefined {
  if (place === undefined) return undefined
  return supervisor()?.share ?? (async (_host, port) => port)
}
