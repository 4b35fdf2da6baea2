import { clock, type Logger, systemClock, Trace, type TraceOutcome } from '../../../kernel/index.ts'
import type { Held } from '../../shared/locks/keeper.ts'
import { applicationLogger } from '../../shared/logging/logger.ts'
import { correctionMs, lastTime, nextTime } from '../../shared/schedule/calendar.ts'
import type { CronPattern } from '../../shared/schedule/pattern.ts'
import { type Zone, zoneByName } from '../../shared/schedule/zone.ts'
import { messageOf } from '../../shared/values/safely.ts'
import { attempt } from '../../shared/work/attempt.ts'
import { Call, Running } from '../../shared/work/running.ts'
import { notifyFailure } from '../failures.ts'
import { type LockGuard, nothingHeld } from '../locks/guard.ts'
import type { WallClock } from '../schedule/system-clock.ts'
import type { Declared } from './declarations.ts'
import type { CronJobInfo, CronRecord, CronRun } from './run.ts'

/** What a job needs from its service. */
export interface JobSurroundings {
  readonly clock: WallClock
  readonly guard: LockGuard | undefined
  readonly logger: Logger
  readonly timezone: string | undefined
  readonly history: number
  /** The server whose work it is; a script has none. */
  readonly server: object | undefined
  /** Whether another service runs a job in place of this one. */
  isElsewhere(declared: Declared): boolean
}

/** A tick this many milliseconds late was missed, rather than just late. */
const lateMs = 60_000

/** Whether a pattern has several ticks a minute, at every hour, so that it does not depend on the wall clock. */
const isOfSeconds = ({ seconds, isEveryHour }: CronPattern) => seconds.length > 1 && isEveryHour

/** One run of a job. */
export interface CronRunTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The name of the job. */
  readonly job: string
  /** The time of the tick; the run may begin later. */
  readonly scheduledAt: Date
}

const runTrace = new Trace<CronRunTrace>('cron.run')

/** One job of a running service; waits for its ticks and runs them. */
export class Job {
  readonly declared: Declared
  readonly #around: JobSurroundings
  readonly #zone: Zone
  readonly #logger: Logger
  #due: number | undefined
  /** The time up to which ticks have been processed. */
  #seen = 0
  /** Milliseconds from the last tick to the next. */
  #interval = 0
  #cancel: (() => void) | undefined
  /** The active runs, including those that still claim their tick. */
  readonly active: Running
  /** When those that have it began. */
  readonly #began = new Set<Date>()
  #queued: number | undefined
  #saidSkipped = false
  readonly #runs: CronRecord[] = []
  readonly #counts = { ok: 0, failed: 0, skipped: 0, missed: 0, elsewhere: 0, unlocked: 0 }

  constructor(declared: Declared, around: JobSurroundings) {
    this.declared = declared
    this.#around = around
    this.#zone = zoneByName(this.timezone)
    this.active = new Running(around.server === undefined ? declared.inScripts : undefined)
    this.#logger = applicationLogger(around.logger).child({ job: declared.name })
  }

  get timezone(): string | undefined {
    return this.declared.options.timezone ?? this.#around.timezone
  }

  /** Whether a run is in progress here, or in a script from which a server has taken it over. */
  get #isBusy(): boolean {
    return this.active.count > 0 || this.declared.inScripts.count > 0
  }

  get isScheduled(): boolean {
    return this.#due !== undefined
  }

  start(): void {
    if (!this.isScheduled) this.#plan(this.#around.clock.now())
  }

  /** Ends the ticks; runs in progress finish. */
  stop(): void {
    this.#cancel?.()
    this.#due = undefined
    this.#queued = undefined
  }

  /** Runs the job once, now. Resolves when the run has started; with `false` if the job is already running or may not run. */
  trigger(): Promise<boolean> {
    if (this.#isBusy && this.declared.options.overlap !== 'allow') return Promise.resolve(false)
    return new Promise((resolve) => {
      void this.#serve(undefined, resolve).then(() => resolve(false))
    })
  }

  get info(): CronJobInfo {
    const [runningSince] = this.#began
    return {
      name: this.declared.name,
      pattern: this.declared.pattern.text,
      timezone: this.timezone,
      state: runningSince !== undefined ? 'running' : this.isScheduled ? 'scheduled' : 'stopped',
      runningSince,
      next: this.#due === undefined ? undefined : new Date(this.#due),
      runs: [...this.#runs],
      counts: { ...this.#counts },
    }
  }

  #plan(after: number): void {
    this.#seen = after
    this.#due = nextTime(this.declared.pattern, this.#zone, after)
    this.#interval = (this.#due ?? after) - after
    this.#wait()
  }

  #wait(): void {
    if (this.#due !== undefined) this.#cancel = this.#around.clock.at(this.#due, () => this.#wake())
  }

  /** Resolves when the run that it has begun is over. */
  async #wake(): Promise<void> {
    const due = this.#due
    if (due === undefined) return
    const now = this.#around.clock.now()
    if (now < due) return void this.#setBack(now, due)
    const tick = lastTime(this.declared.pattern, this.#zone, due, now)
    this.#plan(tick)
    this.#seen = now
    if (this.#around.isElsewhere(this.declared)) return
    if (tick !== due) this.#miss(due, tick)
    if (now - tick > lateMs && this.declared.options.missed === 'skip') this.#miss(tick, now)
    else await this.#arrive(tick)
  }

  /** The clock was set back: ticks that have run are in the future again, and must not run twice. */
  #setBack(now: number, due: number): void {
    if (this.#seen - now > correctionMs) return void this.#plan(now)
    const { pattern } = this.declared
    // For a job with several ticks a minute, hours without a run are worse than a second that is run twice. At least one interval
    // passes in between, and a lock still refuses ticks that have run.
    const again = isOfSeconds(pattern) ? nextTime(pattern, this.#zone, now + this.#interval - 1) : undefined
    this.#due = Math.min(due, again ?? due)
    this.#wait()
  }

  #miss(due: number, until: number): void {
    let count = 0
    // Counted only up to a limit: when a machine has slept for a year, a job that runs every few seconds has missed millions.
    for (let tick: number | undefined = due; tick !== undefined && tick < until && count < 1000; count++)
      tick = nextTime(this.declared.pattern, this.#zone, tick)
    this.#counts.missed += count
    const many = count === 1000 ? '1000 or more ticks' : count === 1 ? 'a tick' : `${count} ticks`
    this.#logger.warn(
      `the cron job "${this.declared.name}" missed ${many}: the process was blocked, or the clock jumped ahead`,
    )
  }

  /** Returns the run, if one begins. */
  #arrive(tick: number): Promise<void> | undefined {
    const { overlap } = this.declared.options
    if (!this.#isBusy || overlap === 'allow') return this.#serve(tick)
    if (overlap === 'queue' && this.#queued === undefined) this.#queue(tick)
    else this.#skip()
    return undefined
  }

  #queue(tick: number): void {
    this.#queued = tick
    const running = this.active.count > 0 ? this.active : this.declared.inScripts
    running.whenIdle(() => {
      const queued = this.#queued
      this.#queued = undefined
      if (queued !== undefined) void this.#arrive(queued)
    })
  }

  #skip(): void {
    this.#counts.skipped++
    if (this.#saidSkipped) return
    this.#saidSkipped = true
    this.#logger.warn(`the cron job "${this.declared.name}" is still running: its ticks are skipped until it ends`)
  }

  /** Claims a tick and runs the job; the clock of a test stands still until that is over. */
  #serve(tick: number | undefined, begun?: (began: boolean) => void): Promise<void> {
    return clock.hold(() => this.#claimAndRun(tick, begun))
  }

  async #claimAndRun(tick: number | undefined, begun: ((began: boolean) => void) | undefined): Promise<void> {
    const call = new Call(this.active)
    try {
      const held = await this.#claim(tick, call)
      if (held === undefined) return
      begun?.(true)
      await this.#run(tick ?? this.#around.clock.now(), call)
      await held.release()
    } finally {
      this.#saidSkipped = false
      call.end()
    }
  }

  async #claim(tick: number | undefined, call: Call): Promise<Held | undefined> {
    const { guard } = this.#around
    const { overlap, lock } = this.declared.options
    if (guard === undefined || lock === false) return nothingHeld
    const exclusive = overlap === 'allow' ? false : overlap === 'queue' && tick !== undefined ? 'wait' : true
    const onLost = (error: Error) => {
      this.#logger.error({ err: error }, error.message)
      call.abort(error)
    }
    const next = exclusive === 'wait' ? undefined : this.#due
    const { signal } = call
    const claimed = await guard.claim({ job: this.declared.name, tick, exclusive, next, signal, onLost })
    if (typeof claimed === 'object') return claimed
    this.#counts[countOf[claimed]]++
    return undefined
  }

  async #run(tick: number, call: Call): Promise<void> {
    const { clock: wall, history, server } = this.#around
    const { name, handler, options } = this.declared
    const run: CronRun = { name, scheduledAt: new Date(tick), signal: call.signal, logger: this.#logger }
    const startedAt = new Date(wall.now())
    const start = systemClock.monotonic()
    this.#began.add(startedAt)
    const note = (outcome: CronOutcome) => {
      this.#began.delete(startedAt)
      const times = { scheduledAt: run.scheduledAt, startedAt, endedAt: new Date(wall.now()) }
      const durationMs = Math.round((systemClock.monotonic() - start) * 10) / 10
      this.#counts[outcome.outcome]++
      this.#runs.unshift({ ...times, durationMs, ...outcome })
      this.#runs.length = Math.min(this.#runs.length, history)
    }
    const all = {
      trace: runTrace,
      event: () => ({ server, job: name, scheduledAt: run.scheduledAt }),
      what: `the cron job "${name}"`,
      run: () => handler(run),
      passed: () => note({ outcome: 'ok' }),
      failed(error: unknown) {
        note(failedWith(error))
        return notifyFailure(error, run, options)
      },
      server,
    }
    await attempt(all, { call, timeout: options.timeout })
  }
}

/** What a tick that this instance does not run counts as. */
const countOf = { busy: 'skipped', taken: 'elsewhere', early: 'unlocked', unreachable: 'unlocked' } as const

type CronOutcome = Pick<CronRecord, 'outcome' | 'error'>

/** Returns the failure for any thrown value; its message is cut to a length that a page can show. */
const failedWith = (error: unknown): CronOutcome => ({ outcome: 'failed', error: messageOf(error).slice(0, 1000) })
