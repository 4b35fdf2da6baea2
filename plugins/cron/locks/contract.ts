import type { RedisAddress } from '../../toolkit/redis.ts'

/** The request of an instance. */
export interface CronClaim {
  /** The name of the job. */
  readonly job: string
  /** The tick, in milliseconds since 1970; `undefined` for a triggered run. */
  readonly tick: number | undefined
  /** The id of the request; a new one each time. Repeating it with the same id returns the same result. */
  readonly owner: string
  /** Milliseconds after which a silent holder counts as dead. */
  readonly ttl: number
  /** Whether the job may only run once at a time: then a claim is held. `wait`: a tick that finds it running can still be claimed. */
  readonly exclusive: false | true | 'wait'
}

/**
 * `claimed`: run it. `taken`: another instance claimed this tick, or a later one. `busy`: another instance is still running the
 * job. `early`: the clock here is more than a minute ahead of that of the lock.
 */
export type CronClaimed = 'claimed' | 'taken' | 'busy' | 'early'

/** The store in which instances agree which of them runs a tick. Each method must be atomic; a rejection means that it is unreachable. */
export interface CronLock {
  /** Asks for a tick of a job; of all instances that ask, one gets `claimed`. */
  claim(claim: CronClaim): Promise<CronClaimed>
  /** Keeps a run for another `ttl`; `false`: another instance has it. */
  renew(claim: CronClaim): Promise<boolean>
  /** The run has ended; the tick stays claimed. */
  release(claim: CronClaim): Promise<void>
  /** Called when the service has stopped. */
  close?(): void | Promise<void>
}

/** The address of Redis, or a client of it. */
export interface CronRedisOptions extends RedisAddress {
  /** A client of ioredis to use instead; it is not closed. */
  readonly client?: CronRedisClient
  /** The prefix of the keys. Default `cron`. */
  readonly prefix?: string
}

/** The used part of a client of ioredis. */
export interface CronRedisClient {
  /** Runs a script in Lua with so many keys, and resolves with what it returns. */
  eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
}

/** An address, or the other options of `new Pool()` of `pg`: `host`, `password`, `ssl` … */
export interface CronPostgresOptions {
  /** The address: `postgres://user:password@host/database`. Default `DATABASE_URL`; ignored beside `host`. */
  readonly url?: string
  /** A pool of `pg` to use instead; it is not closed. */
  readonly client?: CronPostgresClient
  /** The table, created where it is missing. Default `framework_cron`. */
  readonly table?: string
  readonly [option: string]: unknown
}

/** The used part of a pool of `pg`. */
export interface CronPostgresClient {
  /** Runs a statement with values for `$1` and so on, and resolves with its `rows`. */
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}

/** A tick further ahead of the lock's own clock than that is refused: it would keep all earlier ones from running. */
export const aheadMs = 60_000
/** How long the last tick is remembered. */
export const rememberMs = 40 * 86_400_000
/** Milliseconds after which a silent holder counts as dead, by default. */
export const lockTtl = 30_000
