import { clock } from '../../../kernel/index.ts'
import { madeIn } from '../values/memoize.ts'
import { aheadMs, type LockStore } from './contract.ts'

interface Known {
  tick: number
  tickOwner: string
  owner: string | undefined
  until: number
}

/** Of the whole process: a server that starts again in it goes on with higher ones. */
let lastFence = 0

/**
 * Locks within one process; also the shortest implementation of the contract. It keeps no line: its callers have one in the process. Ticks are
 * compared with the wall clock `now`. A claim ends by elapsed time: a clock set forward would let a second holder in.
 */
export function memoryLocks(now: () => number = clock.now): LockStore {
  const locks = new Map<string, Known>()
  const unknown = (): Known => ({ tick: Number.NEGATIVE_INFINITY, tickOwner: '', owner: undefined, until: 0 })
  const knownOf = (key: string) => madeIn(locks, key, unknown)
  const isBusy = (known: Known, owner: string) =>
    known.owner !== undefined && known.owner !== owner && known.until > clock.monotonic()
  return {
    async acquire({ key, owner, ttl }) {
      const known = knownOf(key)
      if (isBusy(known, owner)) return undefined
      Object.assign(known, { owner, until: clock.monotonic() + ttl })
      return ++lastFence
    },
    async claim({ key, tick, owner, ttl, exclusive }) {
      const known = knownOf(key)
      if (tick !== undefined && known.tick >= tick && known.tickOwner !== owner) return 'taken'
      if (tick !== undefined && tick > now() + aheadMs) return 'early'
      const busy = isBusy(known, owner)
      if (busy && exclusive === 'wait') return 'busy'
      if (tick !== undefined) Object.assign(known, { tick, tickOwner: busy && exclusive ? '' : owner })
      if (busy && exclusive) return 'busy'
      if (exclusive) Object.assign(known, { owner, until: clock.monotonic() + ttl })
      return 'claimed'
    },
    async renew({ key, owner, ttl }) {
      const known = locks.get(key)
      if (known?.owner !== owner) return false
      known.until = clock.monotonic() + ttl
      return true
    },
    async release({ key, owner }) {
      const known = locks.get(key)
      if (known?.owner !== owner) return
      known.owner = undefined
      if (known.tick === Number.NEGATIVE_INFINITY) locks.delete(key)
    },
    async leave() {},
  }
}
