import { defineError, defineErrors } from '../../../kernel/support/errors.ts'
import { madeIn } from '../values/memoize.ts'
import {
  type AnyClass,
  type AnyMethod,
  bindPrototype,
  type ClassNotes,
  type Decorated,
  type DecoratedClass,
  type DecoratedMethod,
  notesOfMetadata,
  notesOfPrototype,
  ownNotes,
} from './notes.ts'

export type { AnyClass, AnyMethod, Decorated, DecoratedClass, DecoratedMethod }

/**
 * Says that a decorator is in a place where it has no meaning, or has a value that it does not accept; the message names the class.
 *
 * @example
 * throw DecoratorError('audited', 'Reports.send', 'it is for classes')
 */
export const DecoratorError = defineError(
  'DecoratorError',
  (name: string, on: string, why: string) => `@${name} on ${on}: ${why}`,
)

// Compilers create a metadata object only if the symbol exists; esbuild falls back to this one.
if ((Symbol as { metadata?: symbol }).metadata === undefined) {
  Object.defineProperty(Symbol, 'metadata', { value: Symbol.for('Symbol.metadata') })
}

/** The second argument of a standard decorator on a class. */
interface ClassContext {
  /** The kind of thing that is decorated. */
  readonly kind: 'class'
  /** The name of the class; `undefined` for a class without one. */
  readonly name: string | undefined
}
/** The second argument of a standard decorator on a method. */
interface MethodContext {
  /** The kind of thing that is decorated. */
  readonly kind: 'method'
  /** The name of the method. */
  readonly name: string | symbol
  /** Always `false`: static methods are refused. */
  readonly static: false
  /** Always `false`: private methods, which cannot be called from outside, are refused. */
  readonly private: false
}

/** A decorator for classes, in both protocols. */
export interface ClassMark<Class = AnyClass> {
  (value: Class, context: ClassContext): void
  (target: Class): void
}

/** A decorator for methods of instances, in both protocols. */
export interface MethodMark<Method = AnyMethod> {
  (value: Method, context: MethodContext): void
  // For a static method, the first argument is the class itself, which has a `prototype`.
  (
    target: object & { prototype?: never },
    name: string | symbol,
    descriptor: { value?: Method; get?: () => Method },
  ): void
}

/** What a decorator does, for each kind of thing that it may decorate. */
interface Targets {
  /** The name of the decorator without the `@`, for messages. */
  readonly name: string
  /** Decorates a class. */
  class?(on: DecoratedClass): void
  /** Decorates a method. */
  method?(on: DecoratedMethod): void
}

/**
 * Makes a decorator that works in both protocols: the standard one, and `experimentalDecorators`.
 *
 * It decorates the kinds for which a function is given; on anything else it throws, and mostly does not compile.
 *
 * @throws DecoratorError (from the decorator), which names decorator and member, on a field, an accessor, a parameter, a static or
 * private method, and on a class or a method if the decorator is not for those.
 * @example
 * const tags = new Notes<string>()
 * const tag = (name: string) => decorator({ name: 'tag', class: (on) => tags.add(on, name) })
 */
export function decorator<Class = AnyClass, Method = AnyMethod>(
  targets: Targets & Required<Pick<Targets, 'class' | 'method'>>,
): ClassMark<Class> & MethodMark<Method>
export function decorator<Class = AnyClass>(targets: Targets & Required<Pick<Targets, 'class'>>): ClassMark<Class>
export function decorator<Method = AnyMethod>(targets: Targets & Required<Pick<Targets, 'method'>>): MethodMark<Method>
export function decorator(targets: Targets): (...args: readonly unknown[]) => void {
  return (first, second, third) => {
    const site = isStandard(second) ? readStandard(first, second) : readLegacy(first, second, third)
    const fail = (why: string) => DecoratorError(targets.name, site.label, why)
    const decorate = () => {
      const run: ((on: DecoratedClass & DecoratedMethod) => void) | undefined = site.kind && targets[site.kind]
      if (run === undefined) throw fail(`it is ${site.what}; ${goesOn(targets)}`)
      run.call(targets, site as DecoratedClass & DecoratedMethod)
    }
    if (site.around === undefined) decorate()
    else site.around(decorate)
  }
}

function goesOn({ name, class: onClass, method }: Targets): string {
  const places = [onClass && 'a class', method && 'a method of instances'].filter((place) => place !== undefined)
  return `@${name} goes on ${places.join(' or ')}`
}

/** The place where a decorator was called; without a `kind`, no note can be stored there. */
type Site = Partial<Omit<DecoratedClass & DecoratedMethod, 'kind'>> & {
  readonly kind?: 'class' | 'method'
  readonly label: string
  readonly what: string
  /** Runs the decorator, for places where others may follow unnoticed. */
  around?(decorate: () => void): void
}

interface StandardContext {
  readonly kind: string
  readonly name: string | symbol | undefined
  readonly static?: boolean
  readonly private?: boolean
  readonly metadata?: object
  /** On a class, `run` is called with the class, and on a method with each instance. */
  addInitializer?(run: (this: AnyClass) => void): void
}

function isStandard(second: unknown): second is StandardContext {
  return typeof second === 'object' && second !== null && typeof (second as { kind?: unknown }).kind === 'string'
}

function readStandard(value: unknown, context: StandardContext): Site {
  const { kind, name, metadata } = context
  const label = String(name)
  if (kind === 'class') {
    const cls = value as AnyClass
    const notes = metadata ? notesOfMetadata(metadata) : notesOfPrototype(cls.prototype)
    bindPrototype(cls.prototype, notes)
    if (context.addInitializer === undefined) return openClassSite(cls, notes)
    return classSite(cls, notes, (run) =>
      // Another decorator may have replaced the class: `this` is the final one.
      context.addInitializer!(function whenDefined() {
        run(this)
      }),
    )
  }
  if (kind !== 'method') return { label, what: /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}` }
  if (context.static) return { label, what: 'a static method' }
  if (context.private) return { label, what: 'a private method' }
  if (metadata === undefined) throw DecoratorMetadataError(label)
  const notes = notesOfMetadata(metadata).method(name!)
  return methodSite({
    ...{ name: name!, label, notes, owner: undefined, value: value as AnyMethod },
    whenCreated: (run) =>
      context.addInitializer?.(function remember() {
        run(this)
      }),
  })
}

function readLegacy(target: unknown, name: unknown, third: unknown): Site {
  if (name === undefined && third === undefined && typeof target === 'function') {
    const cls = target as AnyClass
    return openClassSite(cls, notesOfPrototype(cls.prototype))
  }
  const isStatic = typeof target === 'function'
  const owner = isStatic ? target.name : ((target as object | undefined)?.constructor?.name ?? '')
  if (typeof third === 'number') {
    return { label: `${owner}.${String(name ?? 'constructor')}`, what: `a parameter (number ${third})` }
  }
  const label = `${owner}.${String(name)}`
  if (typeof target !== 'object' || target === null || (typeof name !== 'string' && typeof name !== 'symbol')) {
    return { label, what: isStatic ? 'a static member' : 'not a member of a class' }
  }
  const descriptor = (third as PropertyDescriptor | undefined) ?? Object.getOwnPropertyDescriptor(target, name)
  if (descriptor?.get !== undefined || descriptor?.set !== undefined) return { label, what: 'an accessor' }
  if (typeof descriptor?.value !== 'function') return { label, what: 'a field' }
  const notes = notesOfPrototype(target).method(name)
  return methodSite({ name, label, notes, owner: target.constructor as AnyClass, value: descriptor.value })
}

const methodSite = (method: Omit<DecoratedMethod, 'kind'>): Site => ({ ...method, kind: 'method', what: 'a method' })

function classSite(cls: AnyClass, notes: ClassNotes, whenDefined: DecoratedClass['whenDefined']): Site {
  const name = cls.name === '' ? 'an anonymous class' : cls.name
  return { kind: 'class', name, label: name, notes: notes.own, whenDefined, what: 'a class' }
}

type ClassWork = (cls: AnyClass) => void

/**
 * The work to do for a class whose compiler does not report when its last decorator has run: with `experimentalDecorators`,
 * and with compilers of the standard form without `addInitializer`.
 *
 * It is done after each decorator and undone before the next, so that a policy above a controller applies just like one
 * below it. If a decorator throws, the work stays undone: a route of that class would lack that decorator's effect.
 */
class Completion {
  readonly #work: { readonly run: ClassWork; readonly undo: ClassWork | undefined }[] = []
  #done = 0

  add(run: ClassWork, undo?: ClassWork): void {
    this.#work.push({ run, undo })
  }

  /** Runs one decorator of the class. */
  around(cls: AnyClass, decorate: () => void): void {
    this.#undo(cls)
    try {
      decorate()
      for (const { run } of this.#work) {
        run(cls)
        this.#done++
      }
    } catch (error) {
      this.#undo(cls)
      throw error
    }
  }

  #undo(cls: AnyClass): void {
    while (this.#done > 0) this.#work[--this.#done]!.undo?.(cls)
  }
}

const completions = new WeakMap<object, Completion>()

/** The site of a class that may have further decorators, where the last one is unknown. */
function openClassSite(cls: AnyClass, notes: ClassNotes): Site {
  const completion = madeIn(completions, cls.prototype, () => new Completion())
  const site = classSite(cls, notes, (run, undo) => completion.add(run, undo))
  return { ...site, around: (decorate) => completion.around(cls, decorate) }
}

/** A class with its base classes, the outermost base first, each with its own notes. */
function lineageOf(cls: AnyClass): ClassNotes[] {
  const lineage = new Set<ClassNotes>()
  for (
    let one: unknown = cls;
    typeof one === 'function' && one !== Function.prototype;
    one = Object.getPrototypeOf(one)
  ) {
    const notes = ownNotes(one as AnyClass)
    // A class with which another decorator replaced the original shares its notes: once is enough.
    if (notes !== undefined) lineage.add(notes)
  }
  return [...lineage].reverse()
}

/**
 * A class and its base classes, as far as they have notes, the outermost base first.
 *
 * @example
 * class Reports {}
 * decoratedClasses(Reports) // []: neither this class nor one that it extends has a decorator
 */
export function decoratedClasses(cls: AnyClass): Decorated[] {
  return lineageOf(cls).map(({ own }) => ({ kind: 'class', name: cls.name, label: cls.name, notes: own }))
}

/**
 * The decorated methods of a class, including inherited ones, in the order in which they were declared.
 *
 * A method that overrides another and has decorators of its own has only those; without any, it keeps those of the base.
 *
 * @example
 * class Reports {
 *   send() {}
 * }
 * decoratedMethods(Reports) // []: no method has a decorator
 */
export function decoratedMethods(cls: AnyClass): Decorated[] {
  const methods = new Map<PropertyKey, Decorated>()
  for (const notes of lineageOf(cls)) {
    for (const [name, own] of notes.methods) {
      methods.set(name, { kind: 'method', name, label: `${cls.name}.${String(name)}`, notes: own })
    }
  }
  return [...methods.values()]
}

const { DecoratorMetadataError } = defineErrors({
  // Without it nothing says which class a method belongs to, and a policy on it would be lost.
  DecoratorMetadataError: (name: string) =>
    `the compiler passes no metadata object to the decorators on ${name}: use one that does (TypeScript 5.2 or later, esbuild, Bun, Deno)`,
})
