import { defineErrors } from '../../../kernel/support/errors.ts'
import { madeIn } from '../values/memoize.ts'
import { type AnyClass, bindPrototype, ClassNotes, notesOfPrototype } from './notes.ts'

const { DecoratorMetadataError } = defineErrors({
  DecoratorMetadataError: (name: string) =>
    `the compiler does not pass a metadata object to decorators, and another decorator stands between those on ${name}, so the framework cannot find the ones below it. Use a compiler with decorator metadata (TypeScript 5.2 or later, esbuild), or write the other decorator below`,
})

type NoteMap = ReturnType<ClassNotes['method']>
interface Orphan {
  readonly value: Function
  readonly notes: NoteMap
  /** The previous one of the same name: the same method as another function, if a decorator has replaced it. */
  readonly below: Orphan | undefined
}

// Compilers of the standard form without `context.metadata` (TypeScript before 5.2, Babel's of 2022) do not provide the
// class of a method: its notes are kept here by its function until a class with that function is decorated or read.
const byFunction = new WeakMap<Function, Orphan>()
let last: { readonly name: PropertyKey; readonly orphan: Orphan } | undefined

export function noteOrphan(value: Function, name: PropertyKey): NoteMap {
  const below = last?.name === name ? last.orphan : undefined
  const orphan = madeIn(byFunction, value, (): Orphan => ({ value, notes: new Map(), below }))
  last = { name, orphan }
  return orphan.notes
}

/** The notes of an undecorated class, found by its functions. */
export function orphansOf(cls: AnyClass): ClassNotes | undefined {
  const notes = fill(new ClassNotes(), cls)
  if (notes.methods.size === 0) return undefined
  bindPrototype(cls.prototype, notes)
  return notes
}

/** The notes of a class that is being decorated. */
export function bindOrphans(cls: AnyClass): ClassNotes {
  last = undefined
  return fill(notesOfPrototype(cls.prototype), cls)
}

function fill(notes: ClassNotes, cls: AnyClass): ClassNotes {
  for (const name of Reflect.ownKeys(cls.prototype)) {
    const value: unknown = Object.getOwnPropertyDescriptor(cls.prototype, name)?.value
    const orphan = typeof value === 'function' ? byFunction.get(value) : undefined
    if (orphan === undefined) continue
    // The route would be found, but a policy below it would not: that must be reported.
    if (orphan.below !== undefined && !isInherited(cls, name, orphan.below.value))
      throw DecoratorMetadataError(String(name))
    notes.methods.set(name, orphan.notes)
  }
  return notes
}

/** Whether a function is the method with that name of a base class, which is being overridden. */
function isInherited(cls: AnyClass, name: PropertyKey, value: Function): boolean {
  for (let base = Object.getPrototypeOf(cls.prototype); base !== null; base = Object.getPrototypeOf(base)) {
    if (Object.getOwnPropertyDescriptor(base, name)?.value === value) return true
  }
  return false
}
