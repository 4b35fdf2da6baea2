/** The place of this process among several that do the same work. */
export interface WorkerPlace {
  /** The number of this worker, from 1; a process that replaces another has its number. */
  readonly number: number
  /** How many workers there are. */
  readonly of: number
}

/** Receives the events of a server's life. */
export interface SupervisedServer {
  /** The server accepts requests. */
  listens(): void
  /** The server will not listen. */
  failed(): void
  /** The server has closed. Resolves when no other process hands a connection to it any more. */
  closed(): Promise<void>
}

/** An object that a signal closes. */
export interface Closable {
  /** Closes it. */
  close(): Promise<void>
  /** Whether closing has stopped waiting for running work. */
  readonly abandonedWork: boolean
  /** Receives the failure of closing, before the process ends with status 1. */
  report(error: unknown): void
}

/** The lead hooks of a server. */
export interface LeadParts {
  /** In the order in which they run. */
  readonly hooks: readonly (() => Promise<void>)[]
  /** Whether the server closes, so that a hook that failed is not called again. */
  isClosing(): boolean
  /** Logs the failure of a hook that no caller is waiting for. */
  report(error: unknown): void
}

/** What a server has to do with its process, and with the others that do the same work. The kernel receives it. */
export interface Workers {
  /** `undefined` for a single process. */
  readonly place: WorkerPlace | undefined
  /**
   * The port to bind, which all of them share: for 0, the same free one for all. `undefined` for a single process.
   *
   * Rejects as binding would if any other process has the port.
   */
  readonly share: ((host: string, port: number) => Promise<number>) | undefined
  /** Closes a server when the process is asked to end; returns a function that ends this. */
  closeOnSignals(server: Closable): () => void
  /** A server is about to listen. */
  starting(): SupervisedServer | undefined
  /** Runs the lead hooks, in order, now or when this process takes over; rejects with the failure of one that runs now. */
  lead(parts: LeadParts): Promise<void>
}
