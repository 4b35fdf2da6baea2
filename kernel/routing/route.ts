import type { CallSite } from '../support/call-site.ts'
import { defineErrors } from '../support/errors.ts'
import { RouteOptionError, type RouteRecord } from './collection.ts'
import { type Middleware, middlewareMistake, NotAMiddlewareError, nameOf } from './middleware.ts'
import type { RouteOptions } from './options.ts'
import type { Method } from './pattern.ts'

/**
 * The places in the handling of a request where steps can be added, in the order in which they run.
 *
 * `scope`: middlewares of the contexts, root first · `group`: those of groups and controllers · `guard`: whether this caller may
 * enter · `route`: the route's own middlewares · `input`: whether the input is valid · `around`: wraps the handler. So a caller
 * that may not enter learns nothing about the schema, and a cached response is never served for invalid input.
 */
export const slots = ['scope', 'group', 'guard', 'route', 'input', 'around'] as const
/** A place in the chain of a route, in the order in which a request passes them: `scope`, `group`, `guard`, `route`, `input`, `around`. */
export type Slot = (typeof slots)[number]

export const { RouteSlotError, RouteSealedError } = defineErrors({
  RouteSlotError: (slot: string, route: string) =>
    `${route}: there is no slot "${slot}". The slots are ${slots.join(', ')}`,
  RouteSealedError: (route: string) => `${route} is compiled: add to its slots in an onRoute hook, not later`,
})

/** One step of a compiled chain, with the plugin that added it. */
export interface Step {
  /** The slot of the step; `handler` for the last one. */
  readonly slot: Slot | 'handler'
  /** The name of the function, or the name that it was added with. */
  readonly name: string
  /** The plugin that added it; `application` for a step that was registered with the route itself. */
  readonly plugin: string
  /** The scope it belongs to: `root`, or the name of a scoped plugin. */
  readonly scope: string
  /** What runs: `(req, res, next)`. */
  readonly run: Middleware
  /** Whether it may call `next()` again after the later steps have ended: their response is taken back, and they run again. */
  readonly repeats?: boolean
}

/**
 * A route of one server, while its chain is put together; the argument of an `onRoute` hook. `Parsed` is the type of the values of
 * the route options that the hook's plugin reads.
 */
export class Route<out Parsed = {}> {
  /** The method of the route; a route that `any` added exists once for each method. */
  readonly method: Method
  /** The pattern of the path with the prefixes of scopes and groups: `/users/:id`. */
  readonly path: string
  /** The handler as it was given; hooks may look at its name and add steps around it, but must not call it. */
  readonly handler: Function
  /** Whether `any` added it: the routes of all methods are then one declaration. */
  readonly isAny: boolean
  /** Where it was registered, as `file:line:column`. */
  readonly site: CallSite
  /** The plugin that has registered it, or `application`. */
  readonly plugin: string
  /** What plugins keep for this route, see RouteValue. @internal */
  readonly values = new Map<object, unknown>()
  /** @internal */
  serializer: ((payload: unknown, status: number) => string) | undefined
  #options: RouteOptions
  #settings: object = {}
  readonly #steps: Record<Slot, Step[]>
  #owner: { plugin: string; scope: string } = { plugin: 'application', scope: 'root' }
  #sealed = false

  constructor(record: RouteRecord, scopeSteps: readonly Step[], plugin: string) {
    this.plugin = plugin
    this.method = record.method
    this.path = record.path
    this.#options = record.options
    this.handler = record.handler
    this.isAny = record.isAny
    this.site = record.site
    this.#steps = { scope: [...scopeSteps], group: [], guard: [], route: [], input: [], around: [] }
    const { middlewares = [] } = record.options
    const left = new Set([...record.groupMiddlewares, middlewares].flat())
    for (const one of record.guards) {
      if (left.has(one)) continue
      const why = `the middleware ${nameOf(one)} is no longer in the list that it was registered with. Keep it there, or register the route without it`
      throw RouteOptionError(`${this.method} ${this.path}`, String(this.site), why)
    }
    // Frozen: a guard that is added to the array later would guard nothing.
    for (const list of record.groupMiddlewares) for (const one of Object.freeze(list)) this.add('group', one)
    for (const one of Object.freeze(middlewares)) this.add('route', one)
  }

  /** The options as they were written, including those of other plugins. */
  get options(): RouteOptions {
    return this.#options
  }

  /** The values of the options of this route that the plugin of the running hook reads. */
  get settings(): Readonly<Partial<Parsed>> {
    return this.#settings as Partial<Parsed>
  }

  /**
   * Adds a middleware to one of the slots, after the existing ones; with `repeats`, it may call `next()` again after the later steps have ended.
   *
   * @throws RouteSlotError for an unknown slot, NotAMiddlewareError, RouteSealedError after the hook has returned.
   * @example
   * ctx.onRoute((route) => {
   *   if (route.options.maxConcurrent !== undefined) route.add('around', limitConcurrency)
   * })
   */
  add(slot: Slot, middleware: Middleware, { repeats = false }: Pick<Step, 'repeats'> = {}): void {
    if (this.#sealed) throw RouteSealedError(`${this.method} ${this.path}`)
    const steps = this.#steps[slot]
    if (steps === undefined) throw RouteSlotError(String(slot), `${this.method} ${this.path}`)
    const wrong = middlewareMistake([middleware])
    if (wrong !== undefined)
      throw NotAMiddlewareError(`${this.method} ${this.path}: a middleware in "${slot}" ${wrong.why}`)
    const { site } = this
    // A stack is formatted only when it is needed: formatting takes longer than the rest of a registration.
    steps.push({
      slot,
      get name() {
        return nameOf(middleware, 'anonymous', site)
      },
      run: middleware,
      repeats,
      ...this.#owner,
    })
  }

  /**
   * Replaces `JSON.stringify` for the responses of this route; an error that the function throws is a failure like any other.
   *
   * @example
   * ctx.onRoute((route) => route.serializeWith((body, status) => stringifiers[status](body)))
   */
  serializeWith(serialize: (payload: unknown, status: number) => string): void {
    if (this.#sealed) throw RouteSealedError(`${this.method} ${this.path}`)
    this.serializer = serialize
  }

  /**
   * Runs an `onRoute` hook for its plugin and returns the names of the options that the hook has read. A hook that iterates over
   * all of them, for example to print them, has read none.
   *
   * @internal
   */
  extend(
    owner: { plugin: string; scope: string; settings: object },
    hook: (route: Route) => void,
  ): ReadonlySet<PropertyKey> {
    const before = this.#owner
    const options = this.#options
    const read = new Set<PropertyKey>()
    let isListed = false
    this.#owner = { plugin: owner.plugin, scope: owner.scope }
    this.#settings = owner.settings
    this.#options = new Proxy(options, {
      get: (target, name) => {
        read.add(name)
        return Reflect.get(target, name) as unknown
      },
      ownKeys: (target) => {
        isListed = true
        return Reflect.ownKeys(target)
      },
    })
    try {
      hook(this as unknown as Route)
    } finally {
      this.#owner = before
      this.#settings = {}
      this.#options = options
    }
    return isListed ? new Set() : read
  }

  /** The steps in the order in which they run; later additions throw. @internal */
  seal(): Step[] {
    this.#sealed = true
    return slots.flatMap((slot) => this.#steps[slot])
  }
}
