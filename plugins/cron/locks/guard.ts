import { randomUUID } from 'node:crypto'
import { clock, defineErrors, type Logger } from '../../../kernel/index.ts'
import { lockTtl } from '../../shared/locks/contract.ts'
import { type Held, LockKeeper } from '../../shared/locks/keeper.ts'
import { openLocks } from '../../shared/locks/open.ts'
import { reporting } from '../../shared/stores/availability.ts'
import type { CronLockSettings } from '../options.ts'
import { type CronClaim, type CronClaimed, type CronLock, lockOf } from './lock.ts'

export const { CronLockLostError } = defineErrors({
  CronLockLostError: (job: string) =>
    `the lock of the cron job "${job}" was lost while the job ran: this process was blocked for too long, and another instance started the job`,
})

export const nothingHeld: Held = { isOurs: true, release: async () => {} }

const again = 1_000
/** An instance that cannot reach the lock for this long skips the tick. */
const patience = 60_000

export interface ClaimWish extends Pick<CronClaim, 'job' | 'tick' | 'exclusive'> {
  /** The time of the next tick, at which this one is skipped. */
  readonly next: number | undefined
  readonly signal: AbortSignal
  onLost(error: Error): void
}

export type LockGuard = ReturnType<typeof lockGuard>

/** Claims ticks from a lock, and renews the claims. */
export function lockGuard({ lock, ttl }: Awaited<ReturnType<typeof openLock>>, logger: Logger) {
  const down = 'the lock of the cron jobs cannot be reached: their ticks wait for it and do not run'
  const up = 'the lock of the cron jobs can be reached again'
  const keeper = new LockKeeper(lock, reporting(logger, down, up, 'error'))
  const saidEarly = new Set<string>()
  let isClosed = false

  function sayEarly(job: string): void {
    if (saidEarly.has(job)) return
    saidEarly.add(job)
    logger.error(
      { job },
      `the clock of this machine is more than a minute ahead: the cron job "${job}" does not run here`,
    )
  }

  return {
    /** Asks the lock until it responds; returns `unreachable` when the time for asking is over. */
    async claim(wish: ClaimWish): Promise<Held | Exclude<CronClaimed, 'claimed'> | 'unreachable'> {
      const { job, tick, exclusive, next, signal, onLost } = wish
      const claim: CronClaim = { job, tick, exclusive, ttl, owner: randomUUID() }
      const end = Math.min(clock.now() + (tick === undefined ? 0 : patience), next ?? Number.POSITIVE_INFINITY)
      for (;;) {
        const claimed = await keeper.ask(() => lock.claim(claim))
        if (isClosed) {
          // The service no longer waits for it: another instance runs the job.
          if (claimed === 'claimed') void lock.release(claim).catch(() => {})
          return 'unreachable'
        }
        if (claimed === 'claimed') {
          if (!exclusive) return nothingHeld
          return keeper.hold(claim, { ttl, onLost: () => onLost(CronLockLostError(job)) })
        }
        if (claimed === 'early') sayEarly(job)
        const isOver = signal.aborted || (claimed === undefined && clock.now() + again >= end)
        if (isOver && claimed === undefined) keeper.abandon(claim)
        if (isOver) return claimed ?? 'unreachable'
        if (claimed !== undefined && !(claimed === 'busy' && exclusive === 'wait')) return claimed
        // When the service stops, it asks at once, for the last time.
        await clock.sleep(again, signal).catch(() => {})
      }
    },
    /** Closes the lock, which never fails: closing goes on. */
    async close(): Promise<void> {
      isClosed = true
      await keeper.close().catch((error: unknown) => {
        logger.warn({ err: error }, 'the lock of the cron jobs cannot be closed')
      })
    },
    /** Rejects unless the lock responds. */
    async check(): Promise<void> {
      await lock.release({ job: '', tick: undefined, owner: '', ttl: 1, exclusive: false })
    },
    /** Asks the lock once, so that an unreachable one is reported now: the first tick may be hours away. */
    async probe(): Promise<void> {
      await keeper.ask(() => this.check().then(() => true))
    },
  }
}

/** Opens the lock that the option describes. */
export async function openLock(given: CronLockSettings): Promise<{ lock: CronLock; ttl: number }> {
  if ('claim' in given) return { lock: given, ttl: lockTtl }
  return { lock: lockOf(await openLocks(given, 'the cron plugin (lock')), ttl: given.ttl }
}
