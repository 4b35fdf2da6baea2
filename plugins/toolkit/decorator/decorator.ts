import { defineError } from '../../../kernel/support/errors.ts'
import { completionOf } from './completion.ts'
import { bindPrototype, type ClassNotes, notesOfMetadata, notesOfPrototype, ownNotes } from './notes.ts'
import { bindOrphans, noteOrphan, orphansOf } from './orphans.ts'

/**
 * A decorator stands where it has no meaning, or with a value that it does not take; the message names the class.
 *
 * @example
 * throw DecoratorError('audited', 'Reports.send', 'it is for classes')
 */
export const DecoratorError = defineError(
  'DecoratorError',
  500,
  (name: string, on: string, why: string) => `@${name} on ${on}: ${why}`,
)

// Compilers make a metadata object only where the symbol exists, and esbuild falls back to this one.
if ((Symbol as { metadata?: symbol }).metadata === undefined) {
  Object.defineProperty(Symbol, 'metadata', { value: Symbol.for('Symbol.metadata') })
}

/** A class of any constructor, abstract ones too. */
export type AnyClass = abstract new (...args: never[]) => object
/** A method of any signature. */
export type AnyMethod = (...args: never[]) => unknown

/** The second argument of a decorator of the standard on a class. */
interface ClassContext {
  /** What the decorator stands on. */
  readonly kind: 'class'
  /** The name of the class; `undefined` for one without. */
  readonly name: string | undefined
}
/** The second argument of a decorator of the standard on a method. */
interface MethodContext {
  /** What the decorator stands on. */
  readonly kind: 'method'
  /** The name of the method. */
  readonly name: string | symbol
  /** Methods of the class itself are refused. */
  readonly static: false
  /** Methods that no one can call from outside are refused. */
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
  // For a static method the first argument is the class itself, which has a `prototype`.
  (
    target: object & { prototype?: never },
    name: string | symbol,
    descriptor: { value?: Method; get?: () => Method },
  ): void
}

/** The place of a decorator: its notes are stored there. */
export interface Decorated {
  /** Whether the decorator stands on a class or on a method. */
  readonly kind: 'class' | 'method'
  /** The name of the class or the method. */
  readonly name: PropertyKey
  /** The place for messages: `Users.list`, or only `list` where the protocol does not say the class. */
  readonly label: string
  /** What `Notes` keep here; read it through them. */
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
  /** Its class, where the protocol provides it: that of the standard does not. */
  readonly owner: AnyClass | undefined
  /** The present method; a decorator above may replace it. */
  readonly value: AnyMethod
}

/** What a decorator does, for each thing that it may stand on. */
interface Targets {
  /** Without the `@`, for messages. */
  readonly name: string
  /** Decorates a class. */
  class?(on: DecoratedClass): void
  /** Decorates a method. */
  method?(on: DecoratedMethod): void
}

/**
 * Makes a decorator that works in both protocols: that of the standard, and `experimentalDecorators`.
 *
 * It decorates the kinds for which a function is given; on anything else it throws, and mostly does not compile.
 *
 * @throws DecoratorError (the decorator) naming decorator and member, on a field, an accessor, a parameter, a static or
 * private method, and on a class or a method where the decorator is not for those.
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

/** The place of a decorator's call; of another kind where no note can be stored. */
type Site = Partial<Omit<DecoratedClass & DecoratedMethod, 'kind'>> & {
  readonly kind?: 'class' | 'method'
  readonly label: string
  readonly what: string
  /** Runs the decorator where others may follow unnoticed. */
  around?(decorate: () => void): void
}

interface StandardContext {
  readonly kind: string
  readonly name: string | symbol | undefined
  readonly static?: boolean
  readonly private?: boolean
  readonly metadata?: object
  addInitializer?(run: (this: AnyClass) => void): void
}

function isStandard(second: unknown): second is StandardContext {
  return typeof second === 'object' && second !== null && typeof (second as { kind?: unknown }).kind === 'string'
}

function readStandard(value: unknown, context: StandardContext): Site {
  const { kind, name, metadata } = context
  if (kind === 'class') {
    const cls = value as AnyClass
    const notes = metadata ? notesOfMetadata(metadata) : bindOrphans(cls)
    bindPrototype(cls.prototype, notes)
    if (context.addInitializer === undefined) return openClassSite(cls, notes)
    return classSite(cls, notes, (run) =>
      // Another decorator may have replaced the class: this has the name of the final one.
      context.addInitializer!(function whenDefined() {
        run(this)
      }),
    )
  }
  const label = String(name)
  if (kind !== 'method') return { label, what: /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}` }
  if (context.static) return { label, what: 'a static method' }
  if (context.private) return { label, what: 'a private method' }
  const notes = metadata ? notesOfMetadata(metadata).method(name!) : noteOrphan(value as Function, name!)
  return methodSite({ name: name!, label, notes, owner: undefined, value: value as AnyMethod })
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

/** A class that may have further decorators, where the last one is unknown. */
function openClassSite(cls: AnyClass, notes: ClassNotes): Site {
  const completion = completionOf(cls)
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
    const notes = ownNotes(one as AnyClass, orphansOf)
    // A class that another decorator put in place of the first shares its notes: once is enough.
    if (notes !== undefined) lineage.add(notes)
  }
  return [...lineage].reverse()
}

/**
 * A class and its base classes as places with notes, the outermost base first.
 *
 * @example
 * class Reports {}
 * decoratedClasses(Reports) // []: neither it nor a class it extends has a decorator
 */
export function decoratedClasses(cls: AnyClass): Decorated[] {
  return lineageOf(cls).map(({ own }) => ({ kind: 'class', name: cls.name, label: cls.name, notes: own }))
}

/**
 * The decorated methods of a class, inherited ones included, in the order in which they were declared.
 *
 * A method that overrides another and has decorators of its own has only those; without any it keeps the base's.
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
