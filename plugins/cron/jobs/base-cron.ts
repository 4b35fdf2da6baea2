import type { Logger } from '../../../kernel/index.ts'
import { decoratedMethods } from '../../shared/decorators/decorator.ts'
import { applicationLogger } from '../../shared/logging/logger.ts'
import { type ImportedMethod, instanceStandIn } from '../../shared/work/imported-methods.ts'
import { instanceLogger, makeInstance, type ServiceClassKind } from '../../shared/work/service-class.ts'
import { CronClassError, CronFileError } from '../failures.ts'
import { Activity, type Declared } from './declarations.ts'
import { type CronNote, cronNotes, importedJobs, shownJob } from './handle.ts'
import type { CronHandler } from './run.ts'

/**
 * The base class for `@cron` methods. When the jobs start, the service uses the instance that the application has created, or creates one
 * without arguments.
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
    this.logger = instanceLogger('cron', new.target, this)
    importedJobs.know(new.target)
  }
}

/** A class whose methods are jobs. */
export type BaseCronClass = new () => BaseCron

export const cronClasses: ServiceClassKind<BaseCron, CronNote> = {
  base: BaseCron,
  notes: cronNotes,
  imported: importedJobs,
  decorator: '@cron',
  option: 'crons',
  plural: 'the cron jobs',
  shown: shownJob,
  undone: ['does not run', 'do not run'],
  unlisted: 'no file of the option crons exports its class, and the option does not list it',
  classError: CronClassError,
  fileError: CronFileError,
}

/** Keyed by class, because a subclass has the same methods with the same notes; by the note alone while the class is unknown. */
const activities = new WeakMap<object, Map<CronNote, Activity>>()

function activityOf(cls: object, note: CronNote): Activity {
  const ofClass = activities.get(cls) ?? new Map<CronNote, Activity>()
  activities.set(cls, ofClass)
  const activity = ofClass.get(note) ?? new Activity()
  ofClass.set(note, activity)
  return activity
}

// A method in brackets, `['…']() {}`, may have any name.
const asName = (label: string) => label.replace(/\0|\p{Surrogate}/gu, '\ufffd')

/**
 * Creates an instance of the class and returns its jobs.
 *
 * @throws CronClassError
 */
export function jobsOfClass(cls: BaseCronClass, logger: Logger): Declared[] {
  const instance = makeInstance(cronClasses, cls, logger) as unknown as Record<PropertyKey, unknown>
  return decoratedMethods(cls).flatMap((method) => {
    const notes = cronNotes.of(method)
    const run = instance[method.name]
    if (notes.length > 0 && typeof run !== 'function') throw CronClassError(method.label, 'it is no longer a method')
    return notes.map((note, index): Declared => {
      const text = asName(method.label)
      const label = index === 0 ? text : `${text} (${note.pattern.text})`
      const handler = (run as CronHandler).bind(instance)
      return { ...note, name: note.options.name ?? label, isNamed: true, activity: activityOf(cls, note), handler }
    })
  })
}

/**
 * Returns the job of a method whose class is not known: the only member of its instance is the logger. Its name cannot have the class,
 * so `taken` are those of methods with the same name.
 */
export function classlessJob(
  { note, label, value }: ImportedMethod<CronNote>,
  logger: Logger,
  taken: ReadonlySet<string>,
): Declared {
  const plain = asName(label)
  let text = plain
  for (let number = 2; taken.has(text); number++) text = `${plain} #${number}`
  const isNamed = note.options.name !== undefined || text === plain
  const instance = instanceStandIn(applicationLogger(logger).child({ cron: text }), (member) =>
    CronClassError(
      text,
      `it uses this.${member}, but its class has no instance. List the class (crons: [TheClass]), or export it from a file of crons`,
    ),
  )
  const handler: CronHandler = (run) => Reflect.apply(value as CronHandler, instance, [run])
  return { ...note, name: note.options.name ?? text, isNamed, activity: activityOf(note, note), handler }
}
