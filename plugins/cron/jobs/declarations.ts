import type { CallSite, Logger } from '../../../kernel/index.ts'
import type { CronJobSettings } from '../options.ts'
import type { CronPattern } from '../schedule/pattern.ts'
import type { Activity } from './activity.ts'
import type { CronHandler } from './run.ts'

/** A job that was declared: by a handle, or by a method of a class. */
export interface Declared {
  readonly name: string
  /** Whether the name is one that another instance has for the same job. */
  readonly isNamed: boolean
  readonly pattern: CronPattern
  readonly options: CronJobSettings
  /** Where `cron` was called for it. */
  readonly place: CallSite
  /** One for each job of this process: services that have made an instance of the same class share it. */
  readonly activity: Activity
  handler: CronHandler
}

/** What runs jobs. */
export interface Runner {
  adopt(declared: Declared): void
  drop(declared: Declared, isForGood: boolean): void
  /** Called when it cannot adopt what another runner has left. */
  refused(declared: Declared, error: unknown): void
}

/** A job with who runs it. */
interface Entry {
  runner: Runner | undefined
  /** What that runner would run; `undefined` where it has no instance of the class. */
  for(runner: Runner): Declared | undefined
}

/** What handles have started. */
const started = new Map<Activity, Entry & { readonly declared: Declared; isReported: boolean }>()
/** Jobs of classes, with what each runner has made of them. */
const ofClasses = new Map<Activity, Entry & { readonly offers: Map<Runner, Declared> }>()
/** Those that are running, the oldest first: a job runs in one of them, not in each. */
const runners: Runner[] = []
/** Services that run, or will. */
const prospects = new Set<object>()

export function startDeclared(declared: Declared): void {
  const entry = { declared, runner: undefined, for: () => declared, isReported: false }
  assign(entry)
  started.set(declared.activity, entry)
}

export function stopDeclared(declared: Declared, isForGood: boolean): void {
  const runner = started.get(declared.activity)?.runner
  started.delete(declared.activity)
  for (const one of runner === undefined ? runners : [runner]) one.drop(declared, isForGood)
}

function assign(entry: Entry): void {
  for (const runner of runners) {
    const declared = entry.for(runner)
    if (declared === undefined) continue
    runner.adopt(declared)
    entry.runner = runner
    return
  }
}

const entries = (): Entry[] => [...ofClasses.values(), ...started.values()]

/** Gives a runner the jobs of its classes and the started ones, unless another runs them. */
export function openRunner(runner: Runner, jobs: readonly Declared[]): void {
  runners.push(runner)
  for (const declared of jobs) offer(runner, declared)
  for (const entry of entries()) if (entry.runner === undefined) assign(entry)
}

function offer(runner: Runner, declared: Declared): void {
  let entry = ofClasses.get(declared.activity)
  if (entry === undefined) {
    const offers = new Map<Runner, Declared>()
    entry = { runner: undefined, offers, for: (one) => offers.get(one) }
    ofClasses.set(declared.activity, entry)
  }
  entry.offers.set(runner, declared)
}

/** A job of a class ends in whichever service has it. */
export function withdraw(activity: Activity): void {
  const entry = ofClasses.get(activity)
  ofClasses.delete(activity)
  if (entry?.runner !== undefined) entry.runner.drop(entry.offers.get(entry.runner)!, true)
}

/** Its jobs go to the next one, or wait for one. */
export function closeRunner(runner: Runner): void {
  const index = runners.indexOf(runner)
  if (index === -1) return
  runners.splice(index, 1)
  for (const [activity, { offers }] of ofClasses) {
    offers.delete(runner)
    if (offers.size === 0) ofClasses.delete(activity)
  }
  for (const entry of entries()) {
    if (entry.runner !== runner) continue
    entry.runner = undefined
    const next = runners.find((one) => entry.for(one) !== undefined)
    try {
      assign(entry)
    } catch (error) {
      next?.refused(entry.for(next)!, error)
    }
  }
}

/** A service will run what is declared, until `expectNoRunner`. */
export function expectRunner(service: object): void {
  prospects.add(service)
}

export function expectNoRunner(service: object): void {
  prospects.delete(service)
}

export const isRunnerExpected = (): boolean => prospects.size > 0

/** Logs the handles that were started and that no one runs, once each. */
export function reportStarted(log: Logger, remedy: string): void {
  for (const entry of started.values()) {
    if (entry.runner !== undefined || entry.isReported) continue
    entry.isReported = true
    const { name, place } = entry.declared
    log.warn(`the cron job "${name}" (${place}) was started, and nothing in this process runs it: ${remedy}`)
  }
}
