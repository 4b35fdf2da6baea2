import { randomUUID } from 'node:crypto'
import { clock, defineErrors, isInTime, type Logger, systemClock, type Timer } from '../../../kernel/index.ts'
import { Availability, answerWithin } from '../../shared/stores/availability.ts'
import type { CronLockSettings } from '../options.ts'
import { type CronClaim, type CronClaimed, type CronLock, lockTtl } from './contract.ts'

export const { CronLockLostError } = defineErrors({
  CronLockLostError: (job: string) =>
    `the lock of the cron job "${job}" was lost while the job ran: this process was blocked for too long, and another instance started the job`,
})

/** A tick that may run. */
export interface Held {
  release(): Promise<void>
}

export const nothingHeld: Held = { release: async () => {} }

const again = 1_000
/** An instance that cannot reach the lock for this long skips the tick. */
const patience = 60_000
const askFor = 3_000
const closeWithin = 300

export interface ClaimWish {
  readonly job: string
  readonly tick: number | undefined
  readonly exclusive: CronClaim['exclusive']
  /** The time of the next tick, at which this one is skipped. */
  readonly next: number | undefined
  readonly signal: AbortSignal
  onLost(error: Error): void
}

/** Claims ticks from a lock, and renews the claims. */
export class LockGuard {
  readonly #lock: CronLock
  readonly #ttl: number
  readonly #logger: Logger
  readonly #availability = new Availability((isDown, error) => {
    const why = 'the lock of the cron jobs cannot be reached: their ticks wait for it and do not run'
    if (isDown) this.#logger.error({ err: error }, why)
    else this.#logger.warn('the lock of the cron jobs can be reached again')
  })
  readonly #saidEarly = new Set<string>()
  readonly #abandoned: CronClaim[] = []
  /** Functions that end the renewals of the claims of running jobs. */
  readonly #renewals = new Set<() => void>()
  #isClosed = false

  constructor(lock: CronLock, ttl: number, logger: Logger) {
    this.#lock = lock
    this.#ttl = ttl
    this.#logger = logger
  }

  /** Asks the lock until it responds; returns `unreachable` when the time for asking is over. */
  async claim(wish: ClaimWish): Promise<Held | Exclude<CronClaimed, 'claimed'> | 'unreachable'> {
    const { job, tick, exclusive, next, signal } = wish
    const claim: CronClaim = { job, tick, exclusive, ttl: this.#ttl, owner: randomUUID() }
    const end = Math.min(clock.now() + (tick === undefined ? 0 : patience), next ?? Number.POSITIVE_INFINITY)
    for (;;) {
      const claimed = await this.#ask(() => this.#lock.claim(claim))
      if (this.#isClosed) {
        // The service no longer waits for it: another instance runs the job.
        if (claimed === 'claimed') void this.#lock.release(claim).catch(() => {})
        return 'unreachable'
      }
      if (claimed === 'claimed') return exclusive ? this.#hold(claim, wish) : nothingHeld
      if (claimed === 'early') this.#sayEarly(job)
      const isOver = signal.aborted || (claimed === undefined && clock.now() + again >= end)
      if (isOver && claimed === undefined) this.#abandon(claim)
      if (isOver) return claimed ?? 'unreachable'
      if (claimed !== undefined && !(claimed === 'busy' && exclusive === 'wait')) return claimed
      // When the service stops, it asks at once, for the last time.
      await clock.sleep(again, signal).catch(() => {})
    }
  }

  /**
   * Closes the lock without waiting for a store that does not respond, since closing has a deadline. The claims of runs that no one waits
   * for any more end with their `ttl`.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const end of this.#renewals) end()
    const closed = (async () => this.#lock.close?.())().catch((error: unknown) => {
      this.#logger.warn({ err: error }, 'the lock of the cron jobs cannot be closed')
    })
    await isInTime(closed, closeWithin, systemClock)
  }

  #hold(claim: CronClaim, { onLost }: ClaimWish): Held {
    let isOver = false
    let timer: Timer | undefined
    let renewal: Promise<void> | undefined
    const renewLater = () => {
      timer = clock.setTimeout(() => {
        renewal = renew()
        return renewal
      }, this.#ttl / 3)
    }
    const renew = async () => {
      const isOurs = await this.#ask(() => this.#lock.renew(claim))
      if (isOver) return
      if (isOurs !== false) return renewLater()
      end()
      onLost(CronLockLostError(claim.job))
    }
    const end = () => {
      isOver = true
      clock.clear(timer)
      this.#renewals.delete(end)
    }
    this.#renewals.add(end)
    renewLater()
    return {
      release: async () => {
        if (isOver) return
        end()
        // A renewal that the lock carries out after the release would claim it again, for a run that has ended.
        await renewal
        const isReleased = await this.#ask(async () => this.#lock.release(claim).then(() => true))
        if (isReleased !== true) this.#abandon(claim)
      },
    }
  }

  /** Asks the lock once, so that an unreachable one is reported now: the first tick may be hours away. */
  async probe(): Promise<void> {
    const nothing = { job: '', tick: undefined, owner: '', ttl: 1, exclusive: false } as const
    await this.#ask(async () => this.#lock.release(nothing).then(() => true))
  }

  /** Returns `undefined` when the lock cannot be reached, which is reported once per change. */
  async #ask<Result>(question: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await answerWithin(question(), askFor)
      this.#availability.works()
      this.#letGo()
      return result
    } catch (error) {
      this.#availability.fails(error)
      return undefined
    }
  }

  /** Remembers a claim to be released: a store that did not respond may execute it later, and block a job for an instance that gave up. */
  #abandon(claim: CronClaim): void {
    if (this.#abandoned.length < 1000) this.#abandoned.push(claim)
  }

  #letGo(): void {
    for (const claim of this.#abandoned.splice(0)) void this.#lock.release(claim).catch(() => {})
  }

  #sayEarly(job: string): void {
    if (this.#saidEarly.has(job)) return
    this.#saidEarly.add(job)
    this.#logger.error(
      { job },
      `the clock of this machine is more than a minute ahead: the cron job "${job}" does not run here`,
    )
  }
}

/** Opens the lock that the option describes; its package is loaded only here. */
export async function openLock(given: CronLockSettings): Promise<{ lock: CronLock; ttl: number }> {
  if ('claim' in given) return { lock: given, ttl: lockTtl }
  const { redis, postgres, ttl } = given
  if (redis !== undefined) return { lock: await (await import('./redis.ts')).openRedisLock(redis), ttl }
  return { lock: await (await import('./postgres.ts')).openPostgresLock(postgres!), ttl }
}
