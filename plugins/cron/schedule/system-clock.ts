import { peer } from '../../toolkit/peer.ts'
import type { CronClock } from './clock.ts'

/** How often to check whether the machine has slept, or its clock was set. */
const lookEvery = 15_000
/** Milliseconds by which the clocks of the machine and of the process may differ without a change of either. */
const drift = 500

interface Waiting {
  readonly time: number
  readonly wake: () => void
  cancel: () => void
}

let names = 0

/**
 * The clock of the machine, with `node-schedule` to wait.
 *
 * The package waits by the monotonic clock for the time that was left at the beginning: a machine that slept for six hours
 * would wake a job six hours late, and one whose clock was set back a year would not wake it for a year. So all timers are set again
 * when the two clocks have diverged.
 */
export async function openSystemClock(): Promise<CronClock> {
  const { scheduleJob, cancelJob } = await load()
  const waiting = new Set<Waiting>()
  let looking: NodeJS.Timeout | undefined

  const wait = (one: Waiting) => {
    const wake = () => {
      waiting.delete(one)
      one.wake()
    }
    const name = `cron-clock-${++names}`
    // The package refuses a time that has passed when it checks, which may be later than the check here.
    if (one.time - Date.now() >= 20 && scheduleJob(name, new Date(one.time), wake) !== null) {
      one.cancel = () => void cancelJob(name)
      return
    }
    const timer = setTimeout(wake, Math.max(0, one.time - Date.now()))
    one.cancel = () => clearTimeout(timer)
  }

  const parted = () => Date.now() - performance.now()
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
    now: () => Date.now(),
    at(time, wake) {
      const one: Waiting = { time, wake, cancel: () => {} }
      waiting.add(one)
      wait(one)
      if (looking === undefined) {
        known = parted()
        looking = setInterval(look, lookEvery)
        // Jobs keep a process alive, checking clocks does not.
        looking.unref()
      }
      return () => {
        waiting.delete(one)
        one.cancel()
      }
    },
    close() {
      clearInterval(looking)
      looking = undefined
    },
  }
}

interface NodeSchedule {
  scheduleJob(name: string, date: Date, run: () => void): unknown
  cancelJob(name: string): unknown
}

async function load(): Promise<NodeSchedule> {
  const loaded: { default?: unknown } = await peer('node-schedule', () => import('node-schedule'), 'the cron plugin')
  return (loaded.default ?? loaded) as NodeSchedule
}
