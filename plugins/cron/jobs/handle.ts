import { CallSite } from '../../../kernel/index.ts'
import { decorator, type MethodMark } from '../../shared/decorators/decorator.ts'
import { parsePattern } from '../../shared/schedule/pattern.ts'
import { CronDestroyedError } from '../failures.ts'
import { awaitTick, forgetTick } from './alone.ts'
import { cronClasses } from './base-cron.ts'
import { Activity, type Declared, declarations, endJob, stopJob } from './declarations.ts'
import { type CronJobOptions, cronJobOptions } from './job-options.ts'
import type { CronHandler } from './run.ts'

/** A job; also a decorator that turns a method of a class into a job. */
export interface CronHandle extends MethodMark<CronHandler> {
  /** The name of the job; without one, the pattern, followed by `#2` and so on for further jobs with that pattern. */
  readonly name: string
  /** The pattern as given: `0 30 3 * * *`. */
  readonly pattern: string
  /**
   * Begins the schedule: passes the job to the server or the service of this process, immediately if one is running, otherwise as soon as
   * one is. In a process that has neither at the first tick of the job, it runs by itself.
   * A stopped job that is started without a handler keeps its previous handler.
   *
   * @throws (as a rejection) when it is already started; CronDestroyedError; CronNameError for a name that another job has.
   */
  start(handler?: CronHandler): Promise<void>
  /** Ends the ticks; a run in progress finishes. The job may be started again. */
  stop(): void
  /** Stops the job for good: it cannot be started again. */
  destroy(): void
}

const handles = new WeakMap<object, { readonly wasStarted: () => boolean }>()

/** Returns the data of a handle; `undefined` for any other value. */
export const handleOf = (value: unknown) => handles.get(value as object)

const noop: CronHandler = () => {}

/** The number of jobs without a name, by pattern. */
const unnamed = new Map<string, number>()

/** Returns the pattern for the first job; further ones are numbered in the order in which they need a name. */
function nameFor(pattern: string): string {
  const count = (unnamed.get(pattern) ?? 0) + 1
  unnamed.set(pattern, count)
  return count === 1 ? pattern : `${pattern} #${count}`
}

/**
 * Declares a job: the result has `start(handler)`, and is a decorator for methods of classes that extend `BaseCron`.
 *
 * Jobs run while a server with the cron plugin listens, or after `CronService.run()`; in a process without either, a started job runs by
 * itself. They never run under `inject`. Needs the package `node-schedule`.
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
    // The name is made when it is first needed: never for a handle that is only used as a decorator.
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
    method: (on) => cronClasses.add(on, { pattern: parsed, options: declared.options, place }, place),
  })

  const handle = Object.assign(mark, {
    pattern: parsed.text,
    async start(given?: CronHandler) {
      const handler = given === undefined && state === 'stopped' ? declared.handler : given
      if (state === 'destroyed') throw CronDestroyedError(declared.name)
      // No prefix with an error code: this exact sentence is the contract.
      if (state === 'started') throw new Error(`Cron job "${declared.name}" is already started`)
      if (typeof handler !== 'function')
        throw new TypeError(`start of the cron job "${declared.name}" takes a function`)
      const before = { state, handler: declared.handler }
      declared.handler = handler
      state = 'started'
      try {
        await declarations.add(declared.activity)
        awaitTick(declared)
      } catch (error) {
        declared.handler = before.handler
        if (state === 'started') state = before.state
        throw error
      }
    },
    stop() {
      if (state !== 'started') return
      forgetTick(declared.activity)
      stopJob(declared.activity)
      state = 'stopped'
    },
    destroy() {
      if (state === 'destroyed') return
      forgetTick(declared.activity)
      endJob(declared.activity)
      state = 'destroyed'
    },
  })
  Object.defineProperty(handle, 'name', { get: () => declared.name })
  handles.set(handle, { wasStarted: () => state !== 'new' })
  return handle as CronHandle
}
