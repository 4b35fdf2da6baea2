import type { CallSite, Logger } from '../../../kernel/index.ts'
import type { CronPattern } from '../../shared/schedule/pattern.ts'
import { madeIn } from '../../shared/values/memoize.ts'
import { Running } from '../../shared/work/running.ts'
import { type ImportedMethod, ServiceClasses } from '../../shared/work/service-classes.ts'
import { CronClassError, CronFileError } from '../failures.ts'
import type { Declared } from './declarations.ts'
import type { CronJobSettings } from './job-options.ts'
import type { CronHandler } from './run.ts'

/** The note that `@cron` leaves on a method. */
export interface CronNote {
  readonly pattern: CronPattern
  readonly options: CronJobSettings
  /** Where `cron` was called. */
  readonly place: CallSite
}

export const cronClasses = new ServiceClasses<BaseCron, CronNote>({
  field: 'cron',
  base: () => BaseCron,
  decorator: '@cron',
  option: 'crons',
  takes:
    'it takes classes that extend BaseCron and have @cron methods, handles of cron(), globs, and { schedule, handler }',
  plural: 'the cron jobs',
  shown: ({ note, label, place }) =>
    `the cron job ${note.options.name === undefined ? '' : `"${note.options.name}" of `}${label} (${place})`,
  undone: ['does not run', 'do not run'],
  unlisted: 'no file of the option crons exports its class, and the option does not list it',
  remedy: 'List the class (crons: [TheClass]), or export it from a file of crons',
  classError: CronClassError,
  fileError: CronFileError,
})

/**
 * The base class for `@cron` methods. When the jobs start, each server creates an instance of its own, without arguments. If the application
 * has created one, all servers use it, or, if a hook of a plugin has, the server of that hook.
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
    this.logger = cronClasses.created(this, new.target)
  }
}

/** A class whose methods are jobs. */
export type BaseCronClass = new () => BaseCron

/** The runs of methods in scripts. Keyed by class, because a subclass has the same methods with the same notes; by the note alone while the class is unknown. */
const runs = new WeakMap<object, Map<CronNote, Running>>()

function runsOf(cls: object, note: CronNote): Running {
  const ofClass = madeIn(runs, cls, () => new Map<CronNote, Running>())
  const one = ofClass.get(note) ?? runs.get(note)?.get(note) ?? new Running()
  if (cls !== note) runs.delete(note)
  ofClass.set(note, one)
  return one
}

// A method in brackets, `['…']() {}`, may have any name.
const asName = (label: string) => label.replace(/\0|\p{Surrogate}/gu, '\ufffd')

/**
 * Returns the jobs of a class for a server, or for a script: of the instance that the application has created, or of one that is created now.
 *
 * @throws CronClassError
 */
export function jobsOfClass(cls: BaseCronClass, logger: Logger, server: object | undefined): Declared[] {
  const instance = cronClasses.instanceOf(cls, logger, server) as unknown as Record<PropertyKey, unknown>
  return cronClasses.methodsOf(cls).map(({ name, label, note, index }) => {
    const run = instance[name]
    if (typeof run !== 'function') throw CronClassError(label, 'it is no longer a method')
    const text = asName(index === 0 ? label : `${label} (${note.pattern.text})`)
    return {
      ...note,
      name: note.options.name ?? text,
      isNamed: true,
      inScripts: runsOf(cls, note),
      handler: run.bind(instance),
    }
  })
}

/**
 * Returns the job of a method whose class is not known. Its name cannot have the class, so `taken` are those of methods with the same name.
 */
export function classlessJob(method: ImportedMethod<CronNote>, logger: Logger, taken: ReadonlySet<string>): Declared {
  const { note } = method
  const plain = asName(method.label)
  let text = plain
  for (let number = 2; taken.has(text); number++) text = `${plain} #${number}`
  const isNamed = note.options.name !== undefined || text === plain
  const handler: CronHandler = cronClasses.withoutInstance(method, text, logger)
  return { ...note, name: note.options.name ?? text, isNamed, inScripts: runsOf(note, note), handler }
}
