import {
  defineErrors,
  type Middleware,
  optionNames,
  type RouteCollection,
  type RouteOptions,
  type RouteRecord,
  type Verb,
} from '../../kernel/index.ts'
import {
  type AnyClass,
  type Decorated,
  DecoratorError,
  decoratedClasses,
  decoratedMethods,
} from '../shared/decorators/decorator.ts'
import { guardedClasses, type RouteContribution, routeContributions } from '../shared/decorators/route-decorator.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { orFail } from '../shared/values/safely.ts'
import { middlewareNotes } from './middleware.ts'
import { routeNotes } from './verbs.ts'

/** A class that can be a controller: its constructor needs no arguments. */
export type ControllerClass = new () => object

const { ControllerError } = defineErrors({
  ControllerError: (name: string, why: string) => `the controller ${name} cannot be made: ${why}`,
})

/** One declared controller of this process. */
interface Controller {
  readonly prefix: string
  readonly mounted: WeakMap<RouteCollection, readonly RouteRecord[]>
}

/** Every controller of this process, in order of declaration; the modules keep the classes in memory anyway. */
const controllers = new Map<AnyClass, Controller>()

/** The instance of each class, created when the routes of the class are first mounted. */
const instances = new WeakMap<AnyClass, object>()

/** Makes a class a controller and mounts it. */
export function declareController(cls: ControllerClass, prefix: string, collection: RouteCollection): void {
  if (controllers.has(cls)) throw DecoratorError('controller', cls.name, 'it is applied twice; a class has one prefix')
  if (cls.length > 0) {
    throw DecoratorError(
      'controller',
      cls.name,
      'its constructor takes arguments; the framework constructs a controller without arguments',
    )
  }
  controllers.set(cls, { prefix, mounted: new WeakMap() })
  try {
    mountController(cls, collection)
  } catch (error) {
    controllers.delete(cls)
    throw error
  }
}

/** Unmounts a controller and makes its class an ordinary class again. */
export function withdrawController(cls: AnyClass, collection: RouteCollection): void {
  collection.remove(controllers.get(cls)?.mounted.get(collection) ?? [])
  controllers.delete(cls)
}

/** Whether a class is itself a controller; a class that only extends a controller is not. */
export function isController(value: unknown): value is ControllerClass {
  return controllers.has(value as AnyClass)
}

/** Whether a class has routes that are never mounted: it is not a controller, and no controller extends it. */
export function isForgotten(cls: AnyClass): boolean {
  if (controllers.has(cls) || decoratedMethods(cls).every((method) => routeNotes.of(method).length === 0)) return false
  return ![...controllers.keys()].some((one) => Object.prototype.isPrototypeOf.call(cls, one))
}

/**
 * Refuses guards on a class that extends a controller in the collection but has no routes of its own.
 *
 * With `experimentalDecorators`, a decorator that replaces the class makes such a class: decorators above it apply to the new class,
 * but the routes that `@controller` mounted, below it, belong to the old class. They would be unprotected.
 *
 * @throws DecoratorError naming both classes.
 */
export function checkGuards(collection: RouteCollection): void {
  for (const cls of guardedClasses) {
    if (!isForgotten(cls)) continue
    const bare = [...controllers].find(
      ([one, { mounted }]) =>
        Object.prototype.isPrototypeOf.call(one, cls) &&
        mounted.get(collection)?.some((record) => collection.routes.includes(record)),
    )
    if (bare === undefined) continue
    const [own] = decoratedClasses(cls).slice(-1)
    const name = own && middlewareNotes.of(own).length === 0 ? routeContributions.of(own)[0]?.decorator : undefined
    const why = `it has no effect: the class extends the controller ${bare[0].name}, and is not a controller itself. If another decorator replaced the class, write @controller above that decorator`
    throw DecoratorError(name ?? 'middleware', cls.name, why)
  }
}

/**
 * Adds the routes of a controller to a collection, all or none, unless it already has them: a module is loaded only once, so nothing
 * else would restore the routes after `clearRoutes()`.
 */
export function mountController(cls: ControllerClass, collection: RouteCollection): void {
  const { prefix, mounted } = controllers.get(cls)!
  const before = new Set(collection.routes)
  if (mounted.get(collection)?.every((record) => before.has(record))) return
  const added = () => collection.routes.filter((record) => !before.has(record))
  try {
    addRoutes(cls, prefix, collection)
  } catch (error) {
    collection.remove(added())
    throw error
  }
  mounted.set(collection, added())
}

function addRoutes(cls: ControllerClass, prefix: string, collection: RouteCollection): void {
  const instance = instanceOf(cls) as Record<PropertyKey, unknown>
  const groups = decoratedClasses(cls).flatMap((one): readonly Middleware[] => middlewareNotes.of(one).flat())
  collection.group(prefix === '' ? '/' : prefix, groups, (routes) => {
    for (const method of decoratedMethods(cls)) {
      const notes = routeNotes.of(method)
      if (notes.length === 0) {
        const lost = middlewareNotes.of(method).length > 0 ? 'middleware' : routeContributions.of(method)[0]?.decorator
        if (lost === undefined) continue
        throw DecoratorError(lost, method.label, 'the method has no route; add one, @get for example')
      }
      const run = instance[method.name]
      if (typeof run !== 'function') throw DecoratorError('controller', method.label, 'it is no longer a method')
      const handler = Object.defineProperty(run.bind(instance), 'name', { value: method.label })
      for (const note of notes) {
        const verb = routes[note.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'] as Verb
        verb(note.path, optionsOf(cls, method, note.options), handler)
      }
    }
  })
}

function instanceOf(cls: ControllerClass): object {
  return madeIn(instances, cls, () =>
    orFail(
      () => new cls(),
      (why) => ControllerError(cls.name, why),
    ),
  )
}

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
function optionsOf(cls: AnyClass, method: Decorated, own: RouteOptions): RouteOptions {
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
