import { madeIn } from '../values/memoize.ts'

/** A class with any constructor, including abstract ones. */
export type AnyClass = abstract new (...args: never[]) => object
/** A method with any signature. */
export type AnyMethod = (...args: never[]) => unknown

/** The class or method that is decorated, where notes are stored. */
export interface Decorated {
  /** Whether a class or a method is decorated. */
  readonly kind: 'class' | 'method'
  /** The name of the class or the method. */
  readonly name: PropertyKey
  /** Its name for messages: `Users.list`, or only `list` where the protocol does not provide the class. */
  readonly label: string
  /** The data that `Notes` keep here; read it through them. */
  readonly notes: ReadonlyMap<object, unknown>
}

/** A decorated class; it exists once its decorators have run. */
export interface DecoratedClass extends Decorated {
  /**
   * Runs when all decorators of the class have run and its static members exist. Where the compiler does not report
   * that (`experimentalDecorators`), it runs after each decorator from this one on, and `undo` before the next.
   */
  whenDefined(run: (cls: AnyClass) => void, undo?: (cls: AnyClass) => void): void
}

/** A decorated method. */
export interface DecoratedMethod extends Decorated {
  /** Its class, if the protocol provides it: the standard one does not. */
  readonly owner: AnyClass | undefined
  /** The method as it is now; a decorator above may replace it. */
  readonly value: AnyMethod
  /** Calls back with each new instance of the class, in the protocol that does not provide the class. @internal */
  whenCreated?(run: (instance: object) => void): void
}

type NoteMap = Map<Notes<unknown>, unknown[]>

/** All notes on one class: on itself, and on its methods by their names. */
export class ClassNotes {
  readonly own: NoteMap = new Map()
  readonly methods = new Map<PropertyKey, NoteMap>()

  method(name: PropertyKey): NoteMap {
    return madeIn(this.methods, name, () => new Map())
  }
}

// Two keys for one class: its prototype, and the metadata object that standard decorators see before the class exists.
// Both belong to that class alone, so nothing is ever written into the notes of a parent.
const byPrototype = new WeakMap<object, ClassNotes>()
const byMetadata = new WeakMap<object, ClassNotes>()

const emptyNotes = () => new ClassNotes()
export const notesOfPrototype = (prototype: object): ClassNotes => madeIn(byPrototype, prototype, emptyNotes)
export const notesOfMetadata = (metadata: object): ClassNotes => madeIn(byMetadata, metadata, emptyNotes)

export function bindPrototype(prototype: object, notes: ClassNotes): void {
  byPrototype.set(prototype, notes)
}

/** The notes on one class itself, not on its bases. */
export function ownNotes(cls: AnyClass): ClassNotes | undefined {
  const bound = byPrototype.get(cls.prototype)
  if (bound !== undefined) return bound
  const key = (Symbol as { metadata?: symbol }).metadata
  const metadata =
    key !== undefined && Object.hasOwn(cls, key) ? (cls as unknown as Record<symbol, unknown>)[key] : undefined
  return typeof metadata === 'object' && metadata !== null ? byMetadata.get(metadata) : undefined
}

/**
 * One kind of note that decorators put on classes and methods; notes are read in the order in which the decorators are written.
 *
 * @example
 * const schedules = new Notes<string>()
 * const every = (pattern: string) => decorator({ name: 'every', method: (on) => schedules.add(on, pattern) })
 * class Jobs {
 *   @every('* * * * *') clean() {}
 * }
 * for (const method of decoratedMethods(Jobs)) schedules.of(method) // ['* * * * *']
 */
export class Notes<Value> {
  /** Adds one note. Decorators run from the innermost to the outermost; notes are read from the outermost to the innermost. */
  add(on: Decorated, value: Value): void {
    madeIn(on.notes as NoteMap, this as Notes<unknown>, () => []).unshift(value)
  }

  /** The notes on one class or method, the uppermost decorator's first. */
  of(on: Decorated): readonly Value[] {
    return ((on.notes as NoteMap).get(this as Notes<unknown>) ?? []) as Value[]
  }
}
