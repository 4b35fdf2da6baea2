// The used part of BullMQ and ioredis. Their own types have thousands of overloads: comparing with them costs the type
// checker more than the rest of this plugin.

export interface RedisClient {
  readonly status: string
  on(event: string, listener: (value: unknown) => void): unknown
  once(event: string, listener: (value: unknown) => void): unknown
  duplicate(override?: object): RedisClient
  ping(): Promise<unknown>
  disconnect(reconnect?: boolean): void
}

export type RedisConstructor = new (...given: [...place: [] | [url: string], options: object]) => RedisClient

export interface BullJob {
  readonly id?: string
  readonly data: unknown
  readonly attemptsMade: number
  /** When it was published, and when its last attempt began: milliseconds since 1970. */
  readonly timestamp: number
  readonly processedOn?: number
  /** Milliseconds after its last change at which a delayed job is due. */
  readonly delay?: number
  readonly failedReason?: string
  /** The stacks of its failed attempts. */
  readonly stacktrace?: readonly string[] | null
  /** `telemetry` is BullMQ's own place for the data of a trace; its metadata is a string. */
  readonly opts: {
    readonly attempts?: number
    readonly delay?: number
    readonly telemetry?: { readonly metadata?: unknown }
  }
  moveToWait(token: string | undefined): Promise<unknown>
  moveToDelayed(timestamp: number, token: string | undefined): Promise<unknown>
  getState(): Promise<string>
  retry(state: 'failed', options: { resetAttemptsMade: boolean; resetAttemptsStarted: boolean }): Promise<void>
  remove(): Promise<void>
}

export interface BullQueue {
  readonly name: string
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  add(name: string, data: unknown, options: object): Promise<{ id?: string }>
  addBulk(jobs: readonly { name: string; data: unknown; opts: object }[]): Promise<{ id?: string }[]>
  getJobs(types: string[], start: number, end: number, ascending: boolean): Promise<(BullJob | undefined)[]>
  getJobCounts(...types: string[]): Promise<Record<string, number>>
  getJob(id: string): Promise<BullJob | undefined>
  pause(): Promise<void>
  resume(): Promise<void>
  isPaused(): Promise<boolean>
  close(): Promise<void>
}

export interface BullWorker {
  on(event: 'error', listener: (error: Error) => void): unknown
  pause(): Promise<void>
  close(force?: boolean): Promise<void>
}

export interface Bullmq {
  readonly Queue: new (name: string, options: object) => BullQueue
  readonly Worker: new (
    name: string,
    process: (job: BullJob, token?: string) => Promise<void>,
    options: object,
  ) => BullWorker
  readonly UnrecoverableError: new (message: string) => Error
  readonly WaitingError: new () => Error
  readonly DelayedError: new () => Error
}
