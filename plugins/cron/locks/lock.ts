import type { LockStore, TickClaimed } from '../../shared/locks/contract.ts'
import { memoryLocks } from '../../shared/locks/memory.ts'
import type { RedisScripts } from '../../shared/locks/redis.ts'
import type { PostgresStoreClient, PostgresStoreOptions } from '../../shared/stores/postgres.ts'
import type { RedisStoreOptions } from '../../shared/stores/redis-store.ts'

/** An instance's request to run a tick. */
export interface CronClaim {
  /** The name of the job. */
  readonly job: string
  /** The tick, in milliseconds since 1970; `undefined` for a triggered run. */
  readonly tick: number | undefined
  /** The id of the request, a new one each time. Repeating a request with the same id returns the same result. */
  readonly owner: string
  /** Milliseconds after which a holder that has not renewed its claim is considered dead. */
  readonly ttl: number
  /** Whether runs must not overlap, so that a claim is held. `wait`: a tick that finds the job running can still be claimed later. */
  readonly exclusive: false | true | 'wait'
}

/** The response to such a request. */
export type CronClaimed = TickClaimed

/** The store in which instances agree which of them runs a tick. Each method must be atomic; a rejection means that it is unreachable. */
export interface CronLock {
  /** Claims a tick of a job; of all instances that ask, exactly one receives `claimed`. */
  claim(claim: CronClaim): Promise<CronClaimed>
  /** Extends the claim of a run by another `ttl`; `false`: another instance has it. */
  renew(claim: CronClaim): Promise<boolean>
  /** Ends the claim of a run that has ended; the tick itself stays claimed. */
  release(claim: CronClaim): Promise<void>
  /** Called when the service has stopped. */
  close?(): void | Promise<void>
}

/** An address, or options of `ioredis`, or a client; the prefix of its keys is `cron` by default, and a command has 2000 milliseconds. */
export type CronRedisOptions = RedisStoreOptions

/** The part of an ioredis client that is used here. */
export type CronRedisClient = RedisScripts

/** An address, or the other options of `new Pool()` of `pg`; the table is `framework_cron` by default. */
export type CronPostgresOptions = PostgresStoreOptions

/** The part of a `pg` pool that is used here. */
export type CronPostgresClient = PostgresStoreClient

const memoryLockSet = new WeakSet<object>()

/** Whether a lock is not shared with other processes. */
export const isMemoryLock = (lock: object): boolean => memoryLockSet.has(lock)

/**
 * Creates a lock within one process, for tests of several services. `now` is its clock, with which it compares ticks.
 *
 * @example
 * const lock = memoryCronLock()
 * const services = await Promise.all([CronService.run({ lock }), CronService.run({ lock })])
 */
export function memoryCronLock(now?: () => number): CronLock {
  const lock = lockOf(memoryLocks(now))
  memoryLockSet.add(lock)
  return lock
}

/** The lock in a store, where the job is the key. */
export const lockOf = (store: LockStore): CronLock => ({
  claim: ({ job, ...claim }) => store.claim({ key: job, ...claim }),
  renew: ({ job, owner, ttl }) => store.renew({ key: job, owner, ttl }),
  release: ({ job, owner, ttl }) => store.release({ key: job, owner, ttl }),
  close: () => store.close?.(),
})
