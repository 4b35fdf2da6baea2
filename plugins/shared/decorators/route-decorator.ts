import type { RouteOptions } from '../../../kernel/routing/options.ts'
import {
  type AnyClass,
  type AnyMethod,
  type ClassMark,
  type Decorated,
  type DecoratedClass,
  decorator,
  type MethodMark,
} from './decorator.ts'
import { Notes } from './notes.ts'

/** The route options that a decorator sets. */
export interface RouteContribution {
  /** The name of the decorator, for messages. */
  readonly decorator: string
  /** The route options, in the form that a route would have them. */
  readonly options: RouteOptions & { readonly [marker: symbol]: unknown }
  /** Whether each value is added to those of other decorators in a list; otherwise the nearest one applies. */
  readonly adds: boolean
}

/**
 * All contributions of decorators, by class and method; the code that mounts a class merges them.
 *
 * @example
 * class Reports {}
 * for (const place of decoratedClasses(Reports)) console.log(routeContributions.of(place))
 */
export const routeContributions = new Notes<RouteContribution>()

/**
 * Every class with a decorator for its routes, for code that must know whether there are any.
 *
 * @example
 * for (const cls of guardedClasses) console.log(cls.name)
 */
export const guardedClasses: ReadonlySet<AnyClass> = new Set()

/**
 * Adds a class to `guardedClasses` once it is defined.
 *
 * @example
 * const audited = decorator({ name: 'audited', class: (on) => noteGuarded(on) })
 */
export function noteGuarded(on: DecoratedClass): void {
  const classes = guardedClasses as Set<AnyClass>
  on.whenDefined(
    (cls) => void classes.add(cls),
    (cls) => void classes.delete(cls),
  )
}

/**
 * A decorator for a method or a whole class that sets route options.
 *
 * If several set one option, the method's overrides the class's; with `adds`, all of them apply, the
 * class's first.
 *
 * @example
 * const limited = (max: number) => routeDecorator('limited', { maxConcurrent: max })
 * class Reports {
 *   @limited(2) list() {}
 * }
 */
export function routeDecorator<Class = AnyClass, Method = AnyMethod>(
  name: string,
  options: RouteContribution['options'],
  { adds = false }: { adds?: boolean } = {},
): ClassMark<Class> & MethodMark<Method> {
  const contribute = (on: Decorated) => routeContributions.add(on, { decorator: name, options, adds })
  return decorator<Class, Method>({
    name,
    class(on) {
      contribute(on)
      noteGuarded(on)
    },
    method: contribute,
  })
}
