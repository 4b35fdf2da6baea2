import { clock } from '../../../kernel/index.ts'
import { aheadMs, type CronLock } from './contract.ts'

interface Known {
  tick: number
  tickOwner: string
  owner: string | undefined
  until: number
}

const memoryLocks = new WeakSet<object>()

/** Whether a lock is not shared with other processes. */
export const isMemoryLock = (lock: object): boolean => memoryLocks.has(lock)

/**
 * Creates a lock within one process, for tests of several services; also the shortest implementation of the contract.
 *
 * @example
 * const lock = memoryCronLock()
 * const services = await Promise.all([CronService.run({ lock }), CronService.run({ lock })])
 */
export function memoryCronLock(now: () => number = clock.now): CronLock {
  const jobs = new Map<string, Known>()
  const lock: CronLock = {
    async claim({ job, tick, owner, ttl, exclusive }) {
      const known = jobs.get(job) ?? { tick: Number.NEGATIVE_INFINITY, tickOwner: '', owner: undefined, until: 0 }
      jobs.set(job, known)
      if (tick !== undefined && known.tick >= tick && known.tickOwner !== owner) return 'taken'
      if (tick !== undefined && tick > now() + aheadMs) return 'early'
      const isBusy = known.owner !== undefined && known.owner !== owner && known.until > now()
      if (isBusy && exclusive === 'wait') return 'busy'
      if (tick !== undefined) Object.assign(known, { tick, tickOwner: isBusy && exclusive ? '' : owner })
      if (isBusy && exclusive) return 'busy'
      if (exclusive) Object.assign(known, { owner, until: now() + ttl })
      return 'claimed'
    },
    async renew({ job, owner, ttl }) {
      const known = jobs.get(job)
      if (known === undefined) return false
      if (known.owner !== owner && known.owner !== undefined && known.until > now()) return false
      Object.assign(known, { owner, until: now() + ttl })
      return true
    },
    async release({ job, owner }) {
      const known = jobs.get(job)
      if (known?.owner === owner) known.owner = undefined
    },
  }
  memoryLocks.add(lock)
  return lock
}
