import { type AnyClass, decoratedMethods, type Logger, lineLogger } from '../../kernel/index.ts'
import type { Declared } from './declarations.ts'
import { CronClassError } from './failures.ts'
import { cronNotes } from './handle.ts'
import type { CronHandler } from './run.ts'

/** The logger of the service that is making an instance; its constructor may log already. */
let loggerNow: Logger | undefined

/**
 * What a class with `@cron` methods extends. The service makes one instance of it, without arguments, when the jobs start.
 *
 * @example
 * import { BaseCron, cron } from 'framework'
 *
 * export class Reports extends BaseCron {
 *   @cron('0 6 * * mon', { name: 'weekly report' })
 *   send() {
 *     this.logger.info('sending')
 *   }
 * }
 */
export abstract class BaseCron {
  /** The logger of the service, with the name of the class. */
  readonly logger: Logger

  constructor() {
    this.logger = (loggerNow ?? lineLogger()).child({ cron: new.target.name })
  }
}

/** A class whose methods are jobs. */
export type BaseCronClass = new () => BaseCron

/** Whether a value is a class that can be made: one without jobs, the base of others, is none. */
export function isCronClass(value: unknown): value is BaseCronClass {
  return typeof value === 'function' && value.prototype instanceof BaseCron && hasJobs(value as BaseCronClass)
}

/** Whether a class has `@cron` methods of which nothing comes. */
export function isForgotten(value: unknown): value is AnyClass {
  const isClass = typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null
  return isClass && !(value.prototype instanceof BaseCron) && hasJobs(value as unknown as AnyClass)
}

const hasJobs = (cls: AnyClass) => decoratedMethods(cls).some((method) => cronNotes.of(method).length > 0)

/**
 * Makes an instance, and tells its jobs.
 *
 * @throws CronClassError
 */
export function jobsOfClass(cls: BaseCronClass, logger: Logger): Declared[] {
  if (cls.length > 0)
    throw CronClassError(cls.name, 'its constructor takes arguments; a class of jobs is made without any')
  const instance = instanceOf(cls, logger) as unknown as Record<PropertyKey, unknown>
  return decoratedMethods(cls).flatMap((method) => {
    const notes = cronNotes.of(method)
    const run = instance[method.name]
    if (notes.length > 0 && typeof run !== 'function') throw CronClassError(method.label, 'it is no method any more')
    return notes.map(({ pattern, options }, index): Declared => {
      const label = index === 0 ? method.label : `${method.label} (${pattern.text})`
      const handler = (run as CronHandler).bind(instance)
      return { name: options.name ?? label, isNamed: true, pattern, options, handler }
    })
  })
}

function instanceOf(cls: BaseCronClass, logger: Logger): BaseCron {
  loggerNow = logger
  try {
    return new cls()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw Object.assign(CronClassError(cls.name, `it cannot be made: ${why}`), { cause: error })
  } finally {
    loggerNow = undefined
  }
}
