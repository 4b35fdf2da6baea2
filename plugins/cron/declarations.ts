import type { CronJobOptions } from './options.ts'
import type { CronPattern } from './pattern.ts'
import type { CronHandler } from './run.ts'

/** A job that was declared: by a handle, or by a method of a class. */
export interface Declared {
  readonly name: string
  /** Whether the name is one that another instance has for the same job. */
  readonly isNamed: boolean
  readonly pattern: CronPattern
  readonly options: CronJobOptions
  handler: CronHandler
}

/** What runs jobs. */
export interface Runner {
  adopt(declared: Declared): void
  drop(declared: Declared, isForGood: boolean): void
}

/** The jobs of this process that handles have started, with who runs them. */
const started = new Map<Declared, Runner | undefined>()
/** Those that are running, the oldest first: a job runs in one of them, not in each. */
const runners: Runner[] = []

export function startDeclared(declared: Declared): void {
  const [runner] = runners
  runner?.adopt(declared)
  started.set(declared, runner)
}

export function stopDeclared(declared: Declared, isForGood: boolean): void {
  const runner = started.get(declared)
  started.delete(declared)
  for (const one of runner === undefined ? runners : [runner]) one.drop(declared, isForGood)
}

/** Gives a runner every started job that nobody runs. */
export function openRunner(runner: Runner): void {
  runners.push(runner)
  for (const [declared, by] of started) {
    if (by !== undefined) continue
    runner.adopt(declared)
    started.set(declared, runner)
  }
}

/** Its jobs go to the next one, or wait for one. */
export function closeRunner(runner: Runner): void {
  const index = runners.indexOf(runner)
  if (index === -1) return
  runners.splice(index, 1)
  for (const [declared, by] of started) if (by === runner) started.set(declared, undefined)
  for (const [declared, by] of started) {
    const [next] = runners
    if (by !== undefined || next === undefined) continue
    next.adopt(declared)
    started.set(declared, next)
  }
}
