import { CallSite } from '../../../kernel/index.ts'
import { decorator, type MethodMark } from '../../toolkit/decorator/decorator.ts'
import { Notes } from '../../toolkit/decorator/notes.ts'
import { type ImportedMethod, ImportedMethods } from '../../toolkit/imported-methods.ts'
import { CronDestroyedError, mustBeNode } from '../failures.ts'
import { type CronJobOptions, type CronJobSettings, cronJobOptions } from '../options.ts'
import { type CronPattern, parsePattern } from '../schedule/pattern.ts'
import { Activity } from './activity.ts'
import { type Declared, declarations, endJob, stopJob } from './declarations.ts'
import type { CronHandler } from './run.ts'

/** A job, and a decorator that makes a method of a class one. */
export interface CronHandle extends MethodMark<CronHandler> {
  /** The name of the job; without one the pattern, with `#2` and so on after it for further jobs of that pattern. */
  readonly name: string
  /** The pattern as it was given: `0 30 3 * * *`. */
  readonly pattern: string
  /**
   * Passes the job to the server or the service of this process: at once where one is running, else as soon as one does.
   * A stopped job that starts without a handler keeps the one that it had.
   *
   * @throws (as a rejection) when it is started already; CronDestroyedError; CronNameError for a name that another job has.
   */
  start(handler?: CronHandler): Promise<void>
  /** No more ticks; running jobs finish. The job may be started again. */
  stop(): void
  /** Stops the job for good: it cannot be started again. */
  destroy(): void
}

/** What `@cron` leaves on methods. */
export interface CronNote {
  readonly pattern: CronPattern
  readonly options: CronJobSettings
  /** The place of its call of `cron`. */
  readonly place: CallSite
}

export const cronNotes = new Notes<CronNote>()
export const importedJobs = new ImportedMethods(cronNotes)

/** A job of a method, by name and place. */
export const shownJob = ({ note, label, place }: ImportedMethod<CronNote>) =>
  `the cron job ${note.options.name === undefined ? '' : `"${note.options.name}" of `}${label} (${place})`
const handles = new WeakMap<object, { readonly wasStarted: () => boolean }>()

/** The data of a handle; `undefined` for any other value. */
export const handleOf = (value: unknown) => handles.get(value as object)

const noop: CronHandler = () => {}

/** How many jobs without a name have each pattern. */
const unnamed = new Map<string, number>()

/** The pattern for the first; the next ones are numbered in the order in which they start. */
function nameFor(pattern: string): string {
  const count = (unnamed.get(pattern) ?? 0) + 1
  unnamed.set(pattern, count)
  return count === 1 ? pattern : `${pattern} #${count}`
}

/**
 * Declares a job: the result has `start(handler)`, and is a decorator for methods of classes that extend `BaseCron`.
 *
 * Jobs run while a server with the cron plugin listens, or after `CronService.run()`; never under `inject`. On Node.js only;
 * needs the package `node-schedule`.
 *
 * @throws CronPatternError naming the pattern and the field; OptionError.
 * @example
 * import { BaseCron, cron } from 'framework'
 *
 * const cleaning = cron('0 30 3 * * *', { name: 'cleaning', timezone: 'Europe/Rome' })
 * await cleaning.start(async ({ signal, logger }) => {
 *   if (!signal.aborted) logger.info('cleaning')
 * })
 *
 * export class Reports extends BaseCron {
 *   @cron('@daily')
 *   send() {
 *     this.logger.info('sending')
 *   }
 * }
 */
export function cronJob(pattern: string, given?: CronJobOptions): CronHandle {
  const parsed = parsePattern(pattern)
  const options = cronJobOptions.parse(given, 'cron')
  let name = options.name
  const place = new CallSite()
  const declared: Declared = {
    // When it is first needed: never for one that is only used as a decorator.
    get name() {
      name ??= nameFor(parsed.text)
      return name
    },
    isNamed: options.name !== undefined,
    pattern: parsed,
    options,
    place,
    activity: new Activity(() => declared),
    handler: noop,
  }
  let state: 'new' | 'started' | 'stopped' | 'destroyed' = 'new'
  const mark = decorator<CronHandler>({
    name: 'cron',
    method: (on) => importedJobs.add(on, { pattern: parsed, options: declared.options, place }, place),
  })

  const handle = Object.assign(mark, {
    pattern: parsed.text,
    async start(given?: CronHandler) {
      const handler = given === undefined && state === 'stopped' ? declared.handler : given
      if (state === 'destroyed') throw CronDestroyedError(declared.name)
      // Without the prefix of a code: this sentence is the contract.
      if (state === 'started') throw new Error(`Cron job "${declared.name}" is already started`)
      if (typeof handler !== 'function')
        throw new TypeError(`start of the cron job "${declared.name}" takes a function`)
      mustBeNode()
      const before = { state, handler: declared.handler }
      declared.handler = handler
      state = 'started'
      try {
        await declarations.add(declared.activity)
      } catch (error) {
        declared.handler = before.handler
        if (state === 'started') state = before.state
        throw error
      }
    },
    stop() {
      if (state !== 'started') return
      stopJob(declared.activity)
      state = 'stopped'
    },
    destroy() {
      if (state === 'destroyed') return
      endJob(declared.activity)
      state = 'destroyed'
    },
  })
  Object.defineProperty(handle, 'name', { get: () => declared.name })
  handles.set(handle, { wasStarted: () => state !== 'new' })
  return handle as CronHandle
}
