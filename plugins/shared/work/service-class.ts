import type { Logger } from '../../../kernel/index.ts'
import { type AnyClass, decoratedMethods } from '../decorators/decorator.ts'
import type { Notes } from '../decorators/notes.ts'
import { importFiles } from '../files/modules.ts'
import { applicationLogger, lineLogger } from '../logging/logger.ts'
import { option } from '../options/index.ts'
import type { ImportedMethod, ImportedMethods } from './imported-methods.ts'

/** Classes with decorated methods that a service calls, and how their mistakes are reported. */
export interface ServiceClassKind<Instance extends object, Note extends object> {
  /** Their base class. */
  readonly base: abstract new () => Instance
  /** The notes of the decorator on methods. */
  readonly notes: Notes<Note>
  /** The methods that this process has imported. */
  readonly imported: ImportedMethods<Note>
  /** The decorator: `@cron`. */
  readonly decorator: string
  /** The option that lists the classes. */
  readonly option: string
  /** The work of a class: `the cron jobs`. */
  readonly plural: string
  /** Describes the work of one method by name and place. */
  shown(method: ImportedMethod<Note>): string
  /** What is not done with the work of a method, as a predicate in the singular and in the plural. */
  readonly undone: readonly [one: string, several: string]
  /** Why the work of a class that extends the base is not done, if the class is not listed. */
  readonly unlisted: string
  readonly classError: (name: string, why: string) => Error
  readonly fileError: (file: string, why: string) => Error
}

/** What a service makes of the classes. */
export interface ServiceMount<Instance extends object, Note extends object> {
  /** Takes the methods of a class. */
  take(cls: new () => Instance): void
  /** Takes a method whose class is not known, unless it has already; returns the function that ends its work. */
  takeAlone(method: ImportedMethod<Note>): (() => void) | undefined
  /** Whether the methods of a class are taken without the service, by its instance. */
  isTaken?(cls: AnyClass): boolean
}

/** The files and classes to load. */
export interface ServiceSources {
  readonly sources: readonly unknown[]
  /** Whether the files are the default ones, which do not have to exist. */
  readonly isDefault: boolean
  /** The valid members of the list, for the message. */
  readonly takes: string
  /** Receives every other member or export, with its place; returns whether it may be listed. */
  other?(value: unknown, where: string): boolean
}

const isSource = (given: unknown) => (typeof given === 'string' ? given.trim() !== '' : typeof given === 'function')

/** A list of globs and classes, as far as it can be checked before anything is loaded. */
export const sourceList = <Source>(takes: string) => option.list(option.value<Source>(takes, isSource))

/** The logger of the service that is creating an instance, whose constructor may already log. */
let loggerNow: Logger | undefined

/** The last instance of each class that the application has created itself. */
const madeByApplication = new WeakMap<object, object>()

/** For the constructor of a base class: the logger of the service that creates the instance, with the name of its class. */
export function instanceLogger(kind: string, cls: { readonly name: string }, instance: object): Logger {
  if (loggerNow === undefined) madeByApplication.set(cls, instance)
  return applicationLogger(loggerNow ?? lineLogger()).child({ [kind]: cls.name })
}

/**
 * Imports the files of globs and takes the classes that they export or that are listed; other declarations in the files run during the import.
 * Without a list, every class that this process has imported is taken as well; with a list, omitted classes are reported.
 *
 * @throws (as a rejection) the errors of the kind.
 */
export async function loadServiceClasses<Instance extends object, Note extends object>(
  kind: ServiceClassKind<Instance, Note>,
  sources: ServiceSources,
  mount: ServiceMount<Instance, Note>,
  log: Logger,
): Promise<void> {
  const { imported, base, shown, unlisted } = kind
  const [isNot] = kind.undone
  for (const cls of await listedClasses(kind, sources, log)) {
    imported.take(cls)
    mount.take(cls)
  }
  for (const cls of imported.classes) if (mount.isTaken?.(cls)) imported.take(cls)
  if (sources.isDefault) takeImported(kind, mount, log)
  imported.report(log, (method) => {
    const { owner } = method
    const isListable = owner === undefined || owner.prototype instanceof base
    return `${shown(method)} ${isNot}: ${isListable ? unlisted : `its class does not extend ${base.name}`}`
  })
}

/** Takes what the application has imported itself. */
function takeImported<Instance extends object, Note extends object>(
  { imported, base, plural, shown, undone: [isNot, areNot] }: ServiceClassKind<Instance, Note>,
  mount: ServiceMount<Instance, Note>,
  log: Logger,
): void {
  for (const cls of imported.outerClasses) {
    if (!(cls.prototype instanceof base)) continue
    imported.take(cls)
    try {
      mount.take(cls as new () => Instance)
    } catch (error) {
      // This class is not listed, so its failure does not stop the others from working.
      log.error({ err: error }, `${plural} of ${cls.name} ${areNot}: ${(error as Error).message}`)
    }
  }
  for (const method of imported.classless(log, (one) => `${shown(one)} ${isNot}`)) {
    const end = mount.takeAlone(method)
    if (end !== undefined) imported.standIn(method.note, end)
  }
}

/** When a server boots, reports the methods whose work nothing in this process does. */
export function reportUnserved<Note extends object>(
  { imported, shown }: Pick<ServiceClassKind<object, Note>, 'imported' | 'shown'>,
  log: Logger,
  remedy: string,
): void {
  imported.report(log, (method) => `${shown(method)} was imported, but nothing in this process runs it: ${remedy}`)
}

/**
 * Imports the files that globs match, and returns the classes that they export or that are listed.
 *
 * A base class is included if its file exports it; its methods are called in the classes that extend it.
 *
 * @throws (as a rejection) the errors of the kind.
 */
async function listedClasses<Instance extends object, Note extends object>(
  kind: ServiceClassKind<Instance, Note>,
  { sources, isDefault, takes, other }: ServiceSources,
  log: Logger,
): Promise<(new () => Instance)[]> {
  const classes = new Set<new () => Instance>()
  const globs: string[] = []
  const take = (value: unknown): boolean => {
    const isOne = hasMethods(kind.notes, value) && value.prototype instanceof kind.base
    if (isOne) classes.add(value as new () => Instance)
    return isOne
  }
  for (const [index, source] of sources.entries()) {
    const where = `${kind.option}[${index}]`
    if (typeof source === 'string') globs.push(source)
    else if (!take(source) && !other?.(source, where)) throw kind.classError(`${where} (${nameOf(source)})`, takes)
  }
  await importFiles(globs, {
    unmatched(pattern, folder) {
      if (isDefault) return
      log.warn({ pattern, folder }, `${kind.option}: ${JSON.stringify(pattern)} matches no file in ${folder}`)
    },
    failure: kind.fileError,
    take(exported, file) {
      for (const value of exported) {
        if (take(value) || other?.(value, file) || !hasMethods(kind.notes, value)) continue
        throw kind.classError(nameOf(value), `it has ${kind.decorator} methods but does not extend ${kind.base.name}`)
      }
    },
  })
  const all = [...classes]
  return all.filter((cls) => !all.some((other) => other.prototype instanceof cls))
}

/** The name of a function or a class, for messages. */
export const nameOf = (value: unknown) => (value as { name?: string }).name || 'a function'

/** Whether a class has decorated methods: one without any may be the base of others, and has no jobs of its own. */
const hasMethods = <Note>(notes: Notes<Note>, value: unknown): value is AnyClass =>
  typeof value === 'function' &&
  typeof value.prototype === 'object' &&
  decoratedMethods(value as AnyClass).some((method) => notes.of(method).length > 0)

/**
 * Returns the instance that the application has created, or creates one, which may log to this logger from the first line of its constructor on.
 *
 * @throws the error of the kind.
 */
export function makeInstance<Instance extends object>(
  kind: Pick<ServiceClassKind<Instance, never>, 'classError'>,
  cls: new () => Instance,
  logger: Logger,
): Instance {
  const known = madeByApplication.get(cls) as Instance | undefined
  if (known !== undefined) return known
  if (cls.length > 0) {
    throw kind.classError(
      cls.name,
      'its constructor takes arguments; the framework constructs an instance without arguments. Create one before: new TheClass(…)',
    )
  }
  loggerNow = logger
  try {
    return new cls()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw Object.assign(kind.classError(cls.name, `it cannot be made: ${why}`), { cause: error })
  } finally {
    loggerNow = undefined
  }
}
