import { clock, serverExpected, type Timer } from '../../../kernel/index.ts'
import { nextTime } from '../../shared/schedule/calendar.ts'
import { zoneByName } from '../../shared/schedule/zone.ts'
import { openWallClock, type WallClock } from '../schedule/system-clock.ts'
import type { Declared } from './declarations.ts'

/** Milliseconds between two looks at the clock, which may be set while a job waits for its first tick. */
const lookEvery = 30_000

/** Whether this process has, or has had, a server or a service: its jobs wait for one. */
let isOwned = false
/** Started jobs before their first tick. Their timers keep the process alive, like those of a running job. */
const waiting = new Map<Declared, Timer>()
let isBegun = false
let service: AloneService | undefined
let openService: (by: WallClock) => AloneService

/** A service that runs the jobs of a process without a server. */
interface AloneService {
  start(): Promise<void>
  stop(): Promise<unknown>
}

/** Sets how such a service is made: it also imports the declarations of jobs, so it is not imported here. */
export function openAlone(open: typeof openService): void {
  openService = open
}

serverExpected.then(() => leaveTo(undefined))

/** Called when a job was started: runs the started jobs from the first tick on, if there is no server or service by then. */
export function awaitTick(job: Declared): void {
  if (isOwned || isBegun) return
  const { pattern, options } = job
  const tick = nextTime(pattern, zoneByName(options.timezone), clock.now())
  if (tick === undefined) return
  const look = () => {
    const left = tick - clock.now()
    if (left > 0) waiting.set(job, clock.setTimeout(look, Math.min(left, lookEvery)))
    else void runFrom(tick)
  }
  look()
}

/** Called when a job has been stopped. */
export function forgetTick(job: Declared): void {
  clock.clear(waiting.get(job))
  waiting.delete(job)
}

/** Called when there is a server, or when a service starts. */
export function leaveTo(other: object | undefined): void {
  if (other !== undefined && other === service) return
  isOwned = true
  for (const job of waiting.keys()) forgetTick(job)
  // Its ticks end immediately, so that the jobs are free.
  void service?.stop()
  service = undefined
}

async function runFrom(tick: number): Promise<void> {
  isBegun = true
  for (const job of waiting.keys()) forgetTick(job)
  const by = await openWallClock()
  if (isOwned) return
  let isOpening = true
  // Ticks that were due while the service was opened count as well.
  const now = () => (isOpening ? tick - 1 : by.now())
  const alone = openService({ now, at: (time, wake) => by.at(time, wake), close: () => by.close?.() })
  service = alone
  await alone.start()
  isOpening = false
}
