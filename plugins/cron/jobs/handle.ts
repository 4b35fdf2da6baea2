import { CallSite } from '../../../kernel/index.ts'
import { decorator, type MethodMark } from '../../shared/decorators/decorator.ts'
import { parsePattern } from '../../shared/schedule/pattern.ts'
import { outsideServers, runningServer } from '../../shared/values/running-server.ts'
import { Running } from '../../shared/work/running.ts'
import { CronDestroyedError } from '../failures.ts'
import { awaitTick, forgetTick } from './alone.ts'
import { cronClasses } from './base-cron.ts'
import { endJob, naming, type StartedJob, started } from './declarations.ts'
import { type CronJobOptions, cronJobOptions } from './job-options.ts'
import type { CronHandler } from './run.ts'

/** A job; also a decorator that turns a method of a class into a job. */
export interface CronHandle extends MethodMark<CronHandler> {
  /** The name of the job; without one, the pattern, followed by `#2` and so on for further jobs with that pattern. */
  readonly name: string
  /** The pattern as given: `0 30 3 * * *`. */
  readonly pattern: string
  /**
   * Begins the schedule: each server of this process with the plugin runs the job, immediately if it is running, otherwise as soon as it
   * is, and so does the service of a script. In a process that has neither at the first tick of the job, it runs by itself. A start in a
   * hook of a plugin is for the server of that hook alone; each server may have one of its own.
   * A stopped job that is started without a handler continues wherever it was stopped, with its previous handler.
   *
   * @throws (as a rejection) when it is already started; CronDestroyedError; CronNameError for a name that another job of a server has.
   */
  start(handler?: CronHandler): Promise<void>
  /** Ends the ticks in all servers; a run in progress finishes. The job may be started again. */
  stop(): void
  /** Stops the job for good in all servers: it cannot be started again. */
  destroy(): void
}

const handles = new WeakMap<object, { readonly wasStarted: () => boolean }>()

/** Returns the data of a handle; `undefined` for any other value. */
export const handleOf = (value: unknown) => handles.get(value as object)

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
  const place = new CallSite()
  const owner = runningServer()
  const nameOf = naming(options.name, parsed.text, () => owner)
  /** What was started and not stopped, and what was stopped, by the server whose hook has started it. */
  const active = new Map<object | undefined, StartedJob>()
  const stopped = new Map<object | undefined, StartedJob>()
  let isDestroyed = false
  const mark = decorator<CronHandler>({
    name: 'cron',
    method: (on) => cronClasses.add(on, { pattern: parsed, options, place }, place),
  })

  const declare = (handler: CronHandler): StartedJob => ({
    // Never made for a handle that is only used as a decorator.
    get name() {
      return nameOf()
    },
    ...{ isNamed: options.name !== undefined, pattern: parsed, options, place, inScripts: new Running(), handler },
  })
  const isStarted = (server: object | undefined) =>
    [...active.keys()].some((of) => of === server || of === undefined || server === undefined)

  async function begin(server: object | undefined, handler: CronHandler): Promise<void> {
    const before = stopped.get(server)
    const job = before ?? declare(handler)
    const handlerBefore = job.handler
    job.handler = handler
    stopped.delete(server)
    active.set(server, job)
    try {
      await outsideServers(() => started.add(job, server))
      awaitTick(job)
    } catch (error) {
      job.handler = handlerBefore
      if (active.get(server) === job) active.delete(server)
      if (before !== undefined) stopped.set(server, before)
      throw error
    }
  }

  const handle = Object.assign(mark, {
    pattern: parsed.text,
    async start(given?: CronHandler) {
      const server = runningServer()
      for (const [of, job] of active) if (!started.has(job)) active.delete(of)
      // Without a handler, whatever was stopped continues, wherever this is called.
      const owners = given === undefined && !stopped.has(server) ? [...stopped.keys()] : [server]
      if (isDestroyed) throw CronDestroyedError(nameOf())
      // No prefix with an error code: this exact sentence is the contract.
      if ([server, ...owners].some(isStarted)) throw new Error(`Cron job "${nameOf()}" is already started`)
      const all = owners.map((of) => ({ of, handler: given === undefined ? stopped.get(of)?.handler : given }))
      if (typeof all[0]?.handler !== 'function')
        throw new TypeError(`start of the cron job "${nameOf()}" takes a function`)
      await Promise.all(all.map(({ of, handler }) => begin(of, handler!)))
    },
    stop() {
      for (const [of, job] of active) {
        forgetTick(job)
        // Not that of a server that has closed.
        if (started.has(job)) stopped.set(of, job)
        void started.remove(job)
      }
      active.clear()
    },
    destroy() {
      isDestroyed = true
      for (const job of [...active.values(), ...stopped.values()]) {
        forgetTick(job)
        endJob(job)
      }
    },
  })
  Object.defineProperty(handle, 'name', { get: nameOf })
  handles.set(handle, { wasStarted: () => active.size + stopped.size > 0 || isDestroyed })
  return handle as CronHandle
}
