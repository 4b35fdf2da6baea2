import { decoratedMethods, type Logger } from '../../kernel/index.ts'
import { instanceLogger, makeInstance, type ServiceClassKind } from '../shared/service-class.ts'
import type { Declared } from './declarations.ts'
import { CronClassError, CronFileError } from './failures.ts'
import { cronNotes } from './handle.ts'
import type { CronHandler } from './run.ts'

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
    this.logger = instanceLogger('cron', new.target)
  }
}

/** A class whose methods are jobs. */
export type BaseCronClass = new () => BaseCron

export const cronClasses: ServiceClassKind<BaseCron> = {
  base: BaseCron,
  notes: cronNotes,
  decorator: '@cron',
  option: 'crons',
  classError: CronClassError,
  fileError: CronFileError,
}

/**
 * Makes an instance, and tells its jobs.
 *
 * @throws CronClassError
 */
export function jobsOfClass(cls: BaseCronClass, logger: Logger): Declared[] {
  const instance = makeInstance(cronClasses, cls, logger) as unknown as Record<PropertyKey, unknown>
  return decoratedMethods(cls).flatMap((method) => {
    const notes = cronNotes.of(method)
    const run = instance[method.name]
    if (notes.length > 0 && typeof run !== 'function') throw CronClassError(method.label, 'it is no method any more')
    return notes.map(({ pattern, options }, index): Declared => {
      // A method may be called anything in brackets.
      const text = method.label.replace(/\0|\p{Surrogate}/gu, '\ufffd')
      const label = index === 0 ? text : `${text} (${pattern.text})`
      const handler = (run as CronHandler).bind(instance)
      return { name: options.name ?? label, isNamed: true, pattern, options, handler }
    })
  })
}
