import { systemClock, type Timer, type VirtualClock, virtualClock } from '../../../kernel/index.ts'
import { peer } from '../../shared/environment/optional-package.ts'

/** Milliseconds between two checks whether the machine has slept or its clock was set. */
const lookEvery = 15_000
/** Milliseconds by which the clocks of the machine and of the process may drift apart before that is considered a change. */
const drift = 500

/** What a service needs of a clock: it waits for times of the wall clock, not for durations. */
export interface WallClock extends Pick<VirtualClock, 'now' | 'at'> {
  /** Called when the jobs of a service have stopped. */
  close?(): void
}

interface Waiting {
  readonly time: number
  readonly wake: () => unknown
  cancel: () => void
}

let names = 0

/** Opens the clock of a service: that of a test, if one is in use, otherwise that of the machine. */
export const openWallClock = async (): Promise<WallClock> => virtualClock() ?? openSystemClock()

/**
 * Opens the clock of the machine, which waits with `node-schedule`.
 *
 * The package computes the remaining time once and waits for it by the monotonic clock: a machine that slept for six hours would wake
 * a job six hours late, and a machine whose clock was set back a year would not wake it for a year. So all timers are set again when
 * the two clocks have diverged.
 */
export async function openSystemClock(): Promise<WallClock> {
  const { scheduleJob, cancelJob } = await load()
  const waiting = new Set<Waiting>()
  let looking: Timer | undefined

  const wait = (one: Waiting) => {
    const wake = () => {
      waiting.delete(one)
      one.wake()
    }
    const name = `cron-clock-${++names}`
    if (one.time - systemClock.now() >= 20) {
      one.cancel = () => void cancelJob(name)
      if (scheduleJob(name, new Date(one.time), wake) !== null) return
      // The package refuses a time that has passed when it checks, slightly later than this check, and keeps the job all the same.
      one.cancel()
    }
    const timer = systemClock.setTimeout(wake, Math.max(0, one.time - systemClock.now()))
    one.cancel = () => systemClock.clear(timer)
  }

  const parted = () => systemClock.now() - systemClock.monotonic()
  let known = parted()
  const look = () => {
    if (Math.abs(parted() - known) < drift) return
    const isBack = parted() < known
    known = parted()
    for (const one of [...waiting]) {
      if (!waiting.has(one)) continue
      one.cancel()
      if (isBack) {
        waiting.delete(one)
        one.wake()
      } else wait(one)
    }
  }

  return {
    now: systemClock.now,
    at(time, wake) {
      const one: Waiting = { time, wake, cancel: () => {} }
      waiting.add(one)
      wait(one)
      if (looking === undefined) {
        known = parted()
        looking = systemClock.setInterval(look, lookEvery)
        // Jobs keep a process alive; checking the clocks does not.
        looking.unref()
      }
      return () => {
        waiting.delete(one)
        one.cancel()
      }
    },
    close() {
      systemClock.clear(looking)
      looking = undefined
    },
  }
}

async function load() {
  const loaded = await peer('node-schedule', () => import('node-schedule'), 'the cron plugin')
  return loaded.default ?? loaded
}
