import type { RedisAddress } from '../../toolkit/redis.ts'

/** What an instance asks for. */
export interface CronClaim {
  /** The name of the job. */
  readonly job: string
  /** The tick, in milliseconds since 1970; `undefined` for a run that someone asked for. */
  readonly tick: number | undefined
  /** Who asks; another one each time. Asking again with the same one gives the same answer. */
  readonly owner: string
  /** Milliseconds after which a holder that says nothing counts as dead. */
  readonly ttl: number
  /** Whether the job may only run once at a time: then a claim is held. `wait`: a tick that finds it running stays to be had. */
  readonly exclusive: false | true | 'wait'
}

/**
 * `claimed`: run it. `taken`: another instance had this tick, or a later one. `busy`: another instance is still running the
 * job. `early`: the clock here is more than a minute ahead of that of the lock.
 */
export type CronClaimed = 'claimed' | 'taken' | 'busy' | 'early'

/** Where instances agree who runs a tick. Each method must be atomic; a rejection means that it cannot be reached. */
export interface CronLock {
  /** Asks for a tick of a job; of all instances that ask, one gets `claimed`. */
  claim(claim: CronClaim): Promise<CronClaimed>
  /** Holds on to a run for another `ttl`; `false`: another instance has it. */
  renew(claim: CronClaim): Promise<boolean>
  /** The run has ended; the tick stays taken. */
  release(claim: CronClaim): Promise<void>
  /** Called when the service has stopped. */
  close?(): void | Promise<void>
}

/** Where Redis is, or a client of it. */
export interface CronRedisOptions extends RedisAddress {
  /** A client of ioredis to use instead; it is not closed. */
  readonly client?: CronRedisClient
  /** What the keys begin with. Default `cron`. */
  readonly prefix?: string
}

/** What is used of a client of ioredis. */
export interface CronRedisClient {
  /** Runs a script in Lua with so many keys, and resolves with what it returns. */
  eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
}

/** An address, or everything else that `new Pool()` of `pg` takes: `host`, `password`, `ssl` … */
export interface CronPostgresOptions {
  /** The address: `postgres://user:password@host/database`. Default `DATABASE_URL`; not looked at beside `host`. */
  readonly url?: string
  /** A pool of `pg` to use instead; it is not closed. */
  readonly client?: CronPostgresClient
  /** The table, made where it is missing. Default `framework_cron`. */
  readonly table?: string
  readonly [option: string]: unknown
}

/** What is used of a pool of `pg`. */
export interface CronPostgresClient {
  /** Runs a statement with values for `$1` and so on, and resolves with its `rows`. */
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}

/** A tick further ahead of the lock's own clock than that is refused: it would keep all earlier ones from running. */
export const aheadMs = 60_000
/** How long it is remembered which tick was the last. */
export const rememberMs = 40 * 86_400_000
/** Milliseconds after which a holder that says nothing counts as dead, by default. */
export const lockTtl = 30_000
