import type { CallSite, Logger } from '../../../kernel/index.ts'
import { type AnyClass, type AnyMethod, type DecoratedMethod, decoratedMethods } from '../decorators/decorator.ts'
import { Notes } from '../decorators/notes.ts'
import { importFiles } from '../files/modules.ts'
import { applicationLogger, lineLogger } from '../logging/logger.ts'
import { type Check, type Need, option } from '../options/index.ts'
import { madeIn } from '../values/memoize.ts'
import { runningServer } from '../values/running-server.ts'
import { orFail } from '../values/safely.ts'

/** A decorated method of a class that this process has imported. */
export interface ImportedMethod<Note> extends Pick<DecoratedMethod, 'label' | 'owner' | 'value'> {
  readonly note: Note
  readonly place: CallSite
  /** The server whose hook has declared the class: no other has it. */
  readonly server: object | undefined
}

/** Classes with decorated methods that a service calls, and how their mistakes are reported. */
export interface ServiceClassKind<Instance extends object, Note extends object> {
  /** The field of their loggers that has the name of the class. */
  readonly field: string
  /** Returns their base class, which refers to this kind itself. */
  base(): abstract new () => Instance
  /** The decorator: `@cron`. */
  readonly decorator: string
  /** The option that lists the classes. */
  readonly option: string
  /** The valid members of that option, for its message. */
  readonly takes: string
  /** The work of a class: `the cron jobs`. */
  readonly plural: string
  /** Describes the work of one method by name and place. */
  shown(method: ImportedMethod<Note>): string
  /** What is not done with the work of a method, as a predicate in the singular and in the plural. */
  readonly undone: readonly [one: string, several: string]
  /** Why the work of a class that extends the base is not done, if the class is not listed. */
  readonly unlisted: string
  /** How a class gets an instance, for a method that needs it and whose class is not known. */
  readonly remedy: string
  readonly classError: (name: string, why: string) => Error
  readonly fileError: (file: string, why: string) => Error
}

/** What a service makes of the classes. */
export interface ServiceMount<Instance extends object, Note extends object> {
  /** The server of the service; a script has none. */
  readonly server?: object | undefined
  /** Takes the methods of a class. */
  take(cls: new () => Instance): void
  /** Takes a method whose class is not known. */
  takeAlone(method: ImportedMethod<Note>): void
  /** Whether the methods of a class are taken without the service, by its instance. */
  isTaken?(cls: AnyClass): boolean
}

/** The files and classes to load. */
export interface ServiceSources {
  readonly sources: readonly unknown[]
  /** Whether the files are the default ones, which do not have to exist. */
  readonly isDefault: boolean
  /** Receives every other member or export, with its place; returns whether it may be listed. */
  other?(value: unknown, where: string): boolean
}

const isSource = (given: unknown) => (typeof given === 'string' ? given.trim() !== '' : typeof given === 'function')

/** Files and classes to load, and work that is given as objects. */
export interface GivenSources<Listed> extends Omit<ServiceSources, 'other'> {
  readonly listed: readonly Listed[]
}

/** An option for globs and classes, as far as they can be checked before anything is loaded, and for objects; `takes` describes each. */
export const sourcesOption = <Source, Listed extends object>(listed: Check<never, Listed, Need>, takes: string) =>
  option
    .list(option.either(option.value<Source>('', isSource), listed).says(takes))
    .into((given): GivenSources<Listed> => {
      const isListed = (one: Source | Listed): one is Listed => typeof one === 'object'
      return { sources: given.filter((one) => !isListed(one)), listed: given.filter(isListed), isDefault: false }
    })

/** The name of a function or a class, for messages. */
export const nameOf = (value: unknown) => (value as { name?: string }).name || 'a function'

/** Stands for all servers, as the owner of an instance that no hook has made. */
const everywhere = {}

/**
 * The classes of one kind in this process: those that services load, and the decorated methods whose class no service has. Only the
 * decorator knows about a class that is imported but neither listed nor exported by a file of jobs. Each service takes the classes for itself.
 */
export class ServiceClasses<Instance extends object, Note extends object> {
  readonly #kind: ServiceClassKind<Instance, Note>
  readonly #notes = new Notes<Note>()
  readonly #imported = new Map<Note, ImportedMethod<Note>>()
  /** Those that a service has, or has had. */
  readonly #served = new WeakSet<Note>()
  readonly #reported = new WeakSet<Note>()
  /** The last instance of each class that the application has created itself: for the server whose hook has done so, or for all. */
  readonly #instances = new WeakMap<object, WeakMap<AnyClass, Instance>>()
  /** The class of which a service is creating an instance, and the logger of the service: the constructor may already log. */
  #creating: { readonly cls: AnyClass; readonly logger: Logger } | undefined

  constructor(kind: ServiceClassKind<Instance, Note>) {
    this.#kind = kind
  }

  /** Adds a note to a method; called by a decorator. */
  add({ label, owner, value, ...on }: DecoratedMethod, note: Note, place: CallSite): void {
    this.#notes.add({ ...on, label }, note)
    this.#imported.set(note, { note, label, place, owner, value, server: runningServer() })
  }

  /** Called by the constructor of the base class; returns the logger of the service that creates the instance, with the name of its class. */
  created(instance: Instance, cls: AnyClass): Logger {
    if (!this.isCreating(cls)) {
      const owner = runningServer() ?? everywhere
      madeIn(this.#instances, owner, () => new WeakMap<AnyClass, Instance>()).set(cls, instance)
    }
    for (const note of this.notesOf(cls)) {
      const method = this.#imported.get(note)
      if (method !== undefined && method.owner === undefined) this.#imported.set(note, { ...method, owner: cls })
    }
    return applicationLogger(this.#creating?.logger ?? lineLogger()).child({ [this.#kind.field]: cls.name })
  }

  /** Whether a service, and not the application, is creating an instance of the class. */
  isCreating(cls: AnyClass): boolean {
    return this.#creating?.cls === cls
  }

  /** The instance that the application has created itself for this server, or for all. */
  createdFor(server: object | undefined, cls: AnyClass): Instance | undefined {
    return (server && this.#instances.get(server)?.get(cls)) ?? this.#instances.get(everywhere)?.get(cls)
  }

  /** Forgets the classes that hooks of a server have declared, which has closed. */
  forget(server: object): void {
    for (const [note, method] of this.#imported) if (method.server === server) this.#imported.delete(note)
  }

  /** The decorated methods of a class, once for each of their notes. */
  methodsOf(cls: AnyClass) {
    return decoratedMethods(cls).flatMap((method) =>
      this.#notes.of(method).map((note, index) => ({ name: method.name, label: method.label, note, index })),
    )
  }

  /** The notes of a class and of its bases, including those of methods that it overrides. */
  notesOf(cls: AnyClass): Note[] {
    const base: unknown = Object.getPrototypeOf(cls)
    const inherited = typeof base === 'function' && base.prototype ? this.notesOf(base as AnyClass) : []
    return [...inherited, ...this.methodsOf(cls).map(({ note }) => note)]
  }

  /**
   * Imports the files of globs and takes the classes that they export or that are listed; other declarations in the files run during the import.
   * Without a list, every class that this process has imported is taken as well; with a list, omitted classes are reported.
   *
   * @throws (as a rejection) the errors of the kind.
   */
  async load(sources: ServiceSources, mount: ServiceMount<Instance, Note>, log: Logger): Promise<void> {
    const { shown, unlisted, undone, base } = this.#kind
    const taken = new Set<Note>()
    const take = (cls: AnyClass) => {
      for (const note of this.notesOf(cls)) {
        taken.add(note)
        this.#served.add(note)
      }
    }
    const left = () =>
      [...this.#imported.values()].filter(
        ({ note, server }) => !taken.has(note) && (server === undefined || server === mount.server),
      )
    for (const cls of await this.#listed(sources, log)) {
      take(cls)
      mount.take(cls)
    }
    for (const cls of ownersOf(left())) if (mount.isTaken?.(cls)) take(cls)
    if (sources.isDefault) this.#takeImported(left, take, mount, log)
    this.#report(log, (method) => {
      const isListable = method.owner === undefined || method.owner.prototype instanceof base()
      return `${shown(method)} ${undone[0]}: ${isListable ? unlisted : `its class does not extend ${base().name}`}`
    })
  }

  /** When a server boots, reports the methods whose work nothing in this process does. */
  reportUnserved(log: Logger, remedy: string): void {
    const { shown } = this.#kind
    this.#report(log, (method) => `${shown(method)} was imported, but nothing in this process runs it: ${remedy}`)
  }

  /** Logs every method that no service has, once per process. */
  #report(log: Logger, sentence: (method: ImportedMethod<Note>) => string): void {
    for (const [note, method] of this.#imported) {
      if (this.#served.has(note) || this.#reported.has(note)) continue
      this.#reported.add(note)
      log.warn(sentence(method))
    }
  }

  /** Takes what the application has imported itself; `left` returns the methods that were not taken. */
  #takeImported(
    left: () => ImportedMethod<Note>[],
    take: (cls: AnyClass) => void,
    mount: ServiceMount<Instance, Note>,
    log: Logger,
  ): void {
    const { base, plural, shown, undone } = this.#kind
    for (const cls of outermost(ownersOf(left()))) {
      if (!(cls.prototype instanceof base())) continue
      take(cls)
      try {
        mount.take(cls as new () => Instance)
      } catch (error) {
        // This class is not listed, so its failure does not stop the others from working.
        log.error({ err: error }, `${plural} of ${cls.name} ${undone[1]}: ${(error as Error).message}`)
      }
    }
    for (const method of left().filter(({ owner }) => owner === undefined)) {
      const { note, value } = method
      const member = memberUsed(value)
      if (member !== undefined && !this.#reported.has(note))
        log.error(
          `${shown(method)} ${undone[0]}: it uses this.${member}, but its class has no instance. Create one before (new TheClass()), or list the class`,
        )
      this.#reported.add(note)
      if (member === undefined) mount.takeAlone(method)
    }
  }

  /**
   * Imports the files that globs match, and returns the classes that they export or that are listed.
   *
   * A base class is included if its file exports it; its methods are called in the classes that extend it.
   */
  async #listed({ sources, isDefault, other }: ServiceSources, log: Logger): Promise<(new () => Instance)[]> {
    const { base, option: list, decorator, takes, classError, fileError } = this.#kind
    const classes = new Set<new () => Instance>()
    const take = (value: unknown): boolean => {
      const isOne = this.#hasMethods(value) && value.prototype instanceof base()
      if (isOne) classes.add(value as new () => Instance)
      return isOne
    }
    for (const [index, source] of sources.entries()) {
      const where = `${list}[${index}]`
      if (typeof source !== 'string' && !take(source) && !other?.(source, where))
        throw classError(`${where} (${nameOf(source)})`, takes)
    }
    await importFiles(
      sources.filter((source) => typeof source === 'string'),
      {
        unmatched(pattern, folder) {
          if (isDefault) return
          log.warn({ pattern, folder }, `${list}: ${JSON.stringify(pattern)} matches no file in ${folder}`)
        },
        failure: fileError,
        take: (exported, file) => {
          for (const value of exported) {
            if (take(value) || other?.(value, file) || !this.#hasMethods(value)) continue
            throw classError(nameOf(value), `it has ${decorator} methods but does not extend ${base().name}`)
          }
        },
      },
    )
    return outermost([...classes])
  }

  /** Whether a class has decorated methods: one without any may be the base of others, and has no jobs of its own. */
  #hasMethods(value: unknown): value is AnyClass {
    return (
      typeof value === 'function' && typeof value.prototype === 'object' && this.methodsOf(value as AnyClass).length > 0
    )
  }

  /**
   * Returns the instance that the application has created for a server, or creates one, which may log to this logger from the first line of its
   * constructor on.
   *
   * @throws the error of the kind.
   */
  instanceOf(cls: new () => Instance, logger: Logger, server?: object): Instance {
    const known = this.createdFor(server, cls)
    if (known !== undefined) return known
    const { classError } = this.#kind
    if (cls.length > 0) {
      throw classError(
        cls.name,
        'its constructor takes arguments; the framework constructs an instance without arguments. Create one before: new TheClass(…)',
      )
    }
    this.#creating = { cls, logger }
    try {
      return orFail(
        () => new cls(),
        (why) => classError(cls.name, `it cannot be made: ${why}`),
      )
    } finally {
      this.#creating = undefined
    }
  }

  /** A method whose class is not known, as a function: its instance has the logger, and every other member of `this` throws. */
  withoutInstance(
    { value }: ImportedMethod<Note>,
    name: string,
    log: Logger,
  ): (...args: readonly unknown[]) => unknown {
    const { classError, field, remedy } = this.#kind
    const instance = instanceStandIn({ logger: applicationLogger(log).child({ [field]: name }) }, (member) =>
      classError(name, `it uses this.${member}, but its class has no instance. ${remedy}`),
    )
    return (...args) => Reflect.apply(value, instance, args as never)
  }
}

/** The known classes of methods. */
const ownersOf = (methods: readonly ImportedMethod<unknown>[]): AnyClass[] =>
  [...new Set(methods.map(({ owner }) => owner))].filter((one) => one !== undefined)

/** The classes that no other one extends: a base has no jobs of its own. */
const outermost = <Class extends AnyClass>(all: readonly Class[]): Class[] =>
  all.filter((cls) => !all.some((other) => other.prototype instanceof cls))

const unread = /\/\*[\s\S]*?\*\/|\/\/.*|(['"])(?:\\.|(?!\1).)*\1/g

/**
 * A member of `this` other than the logger that a method names in its source; `undefined` if it seems to run without an instance. A
 * member that is read in another way is noticed when the method runs.
 *
 * @example
 * class Jobs {
 *   count = 0
 *   run() {
 *     return this.count
 *   }
 * }
 * memberUsed(Jobs.prototype.run) // 'count'
 */
export function memberUsed(method: AnyMethod): string | undefined {
  const source = Function.prototype.toString.call(method).replace(unread, '')
  return /\bthis\s*\??\.\s*(?!logger\b)([#\w$]+)/.exec(source)?.[1]
}

/** Replaces the instance of a class that has none: it has these members, and every other member of `this` throws. */
export function instanceStandIn(members: { readonly logger?: Logger }, fail: (member: string) => Error): object {
  return new Proxy<{ readonly [member: PropertyKey]: unknown }>(
    { ...members },
    {
      get(target, member) {
        if (member in target || typeof member === 'symbol') return target[member]
        throw fail(member)
      },
    },
  )
}
