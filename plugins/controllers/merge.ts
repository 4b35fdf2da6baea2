import { optionNames, type RouteOptions } from '../../kernel/index.ts'
import { type AnyClass, type Decorated, DecoratorError, decoratedClasses } from '../shared/decorators/decorator.ts'
import { type RouteContribution, routeContributions } from '../shared/decorators/route-decorator.ts'
import { middlewareNotes } from './middleware.ts'

/** The options that are being merged, and which of them are lists. */
interface Merging {
  readonly options: Record<PropertyKey, unknown>
  readonly lists: Set<PropertyKey>
}

/**
 * Merges the options of one route: those of the decorators of its class and its method, and those given next to its path.
 *
 * Lists are joined, the class's first and the route's own last. A single value of the method overrides the value of
 * the class; two values in one place contradict each other, and one of them would be lost silently.
 */
export function optionsOf(cls: AnyClass, method: Decorated, own: RouteOptions): RouteOptions {
  const merging: Merging = { options: {}, lists: new Set() }
  const { options, lists } = merging
  for (const place of decoratedClasses(cls)) contribute(place, merging)
  const said = contribute(method, merging)
  for (const key of optionNames(own)) {
    const value = (own as Record<PropertyKey, unknown>)[key]
    const other = said.get(key)
    if (other !== undefined) {
      throw DecoratorError(
        other.decorator,
        method.label,
        `its route has the option ${String(key)} as well; remove one of them`,
      )
    }
    options[key] = lists.has(key) ? joined(options[key], value) : value
  }
  const middlewares = middlewareNotes.of(method).flat()
  if (middlewares.length > 0)
    options.middlewares = 'middlewares' in own ? joined(middlewares, own.middlewares) : middlewares
  return options as RouteOptions
}

/** Merges the options of the decorators in one place, and returns the decorator that set each single value. */
function contribute(place: Decorated, { options, lists }: Merging): Map<PropertyKey, RouteContribution> {
  const said = new Map<PropertyKey, RouteContribution>()
  for (const one of routeContributions.of(place)) {
    for (const key of Reflect.ownKeys(one.options)) {
      const value = (one.options as Record<PropertyKey, unknown>)[key]
      if (one.adds) {
        lists.add(key)
        options[key] = joined(options[key], value)
        continue
      }
      if (said.has(key)) throw DecoratorError(one.decorator, place.label, 'it is applied twice; remove one of them')
      said.set(key, one)
      options[key] = value
    }
  }
  return said
}

function joined(before: unknown = [], more: unknown): unknown[] {
  return [before, more].flat()
}
