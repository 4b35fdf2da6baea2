import type { CallSite, Logger } from '../../../kernel/index.ts'
import { type AnyClass, type AnyMethod, type DecoratedMethod, decoratedMethods } from '../decorators/decorator.ts'
import type { Notes } from '../decorators/notes.ts'

/** A decorated method of a class that this process has imported. */
export interface ImportedMethod<Note> {
  readonly note: Note
  /** `Reports.send`; only `send` where the protocol of decorators does not name the class. */
  readonly label: string
  readonly place: CallSite
  /** The class, if the protocol names it. */
  readonly owner: AnyClass | undefined
  readonly value: AnyMethod
}

/**
 * The decorated methods of this process whose class no service has: only the decorator knows about a class that is
 * imported but neither listed nor exported by a file of jobs.
 */
export class ImportedMethods<Note extends object> {
  readonly #notes: Notes<Note>
  readonly #left = new Map<Note, ImportedMethod<Note>>()
  readonly #standIns = new Map<Note, () => void>()
  readonly #reported = new WeakSet<Note>()

  constructor(notes: Notes<Note>) {
    this.#notes = notes
  }

  /** Adds a note to a method; called by a decorator. */
  add({ label, owner, value, ...on }: DecoratedMethod, note: Note, place: CallSite): void {
    this.#notes.add({ ...on, label }, note)
    this.#left.set(note, { note, label, place, owner, value })
  }

  /** Called when a service has the class: removes its methods and those of its bases from the list. */
  take(cls: AnyClass): void {
    this.resolve(cls)
    for (const note of this.#notesOf(cls)) this.#left.delete(note)
  }

  /** Called when the class is known: ends its substitutes. */
  resolve(cls: AnyClass): void {
    for (const note of this.#notesOf(cls)) {
      this.#standIns.get(note)?.()
      this.#standIns.delete(note)
    }
    this.know(cls)
  }

  /** Called when an instance of the class is created; its substitutes continue. */
  know(cls: AnyClass): void {
    for (const note of this.#notesOf(cls)) {
      const method = this.#left.get(note)
      if (method !== undefined && method.owner === undefined) this.#left.set(note, { ...method, owner: cls })
    }
  }

  #notesOf(cls: AnyClass): Note[] {
    const notes: Note[] = []
    for (let one: unknown = cls; typeof one === 'function' && one.prototype; one = Object.getPrototypeOf(one)) {
      for (const method of decoratedMethods(one as AnyClass)) notes.push(...this.#notes.of(method))
    }
    return notes
  }

  /** The known classes. */
  get classes(): AnyClass[] {
    return [...new Set([...this.#left.values()].map(({ owner }) => owner))].filter((one) => one !== undefined)
  }

  /** The known classes that no other one extends: a base has no jobs of its own. */
  get outerClasses(): AnyClass[] {
    const all = this.classes
    return all.filter((cls) => !all.some((other) => other.prototype instanceof cls))
  }

  /** The methods whose class is not known, as far as they can run without an instance. The others are logged, once per process. */
  classless(log: Logger, sentence: (method: ImportedMethod<Note>) => string): ImportedMethod<Note>[] {
    return [...this.#left.values()].filter((method) => {
      if (method.owner !== undefined) return false
      const member = memberUsed(method.value)
      if (member === undefined) return true
      if (!this.#reported.has(method.note))
        log.error(
          `${sentence(method)}: it uses this.${member}, but its class has no instance. Create one before (new TheClass()), or list the class`,
        )
      this.#reported.add(method.note)
      return false
    })
  }

  /** Notes that a method runs without its class until the class is known; `end` then ends it. */
  standIn(note: Note, end: () => void): void {
    this.#standIns.set(note, end)
    this.#reported.add(note)
  }

  hasStandIn(note: Note): boolean {
    return this.#standIns.has(note)
  }

  /** Logs every remaining method, once per process. */
  report(log: Logger, sentence: (method: ImportedMethod<Note>) => string): void {
    for (const [note, method] of this.#left) {
      if (this.#reported.has(note)) continue
      this.#reported.add(note)
      log.warn(sentence(method))
    }
  }
}

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

/**
 * Replaces the instance of an unknown class: it has the logger, and every other member of `this`
 * throws.
 */
export function instanceStandIn(logger: Logger, fail: (member: string) => Error): object {
  return new Proxy<{ [member: PropertyKey]: unknown }>(
    { logger },
    {
      get(target, member) {
        if (member in target || typeof member === 'symbol') return target[member]
        throw fail(member)
      },
    },
  )
}
