import type { Response } from '../http/response/response.ts'
import { CallSite } from '../support/call-site.ts'
import { defineErrors } from '../support/errors.ts'
import { optionNames } from '../support/options.ts'
import type { Middleware } from './middleware.ts'
import type { RouteOptions } from './options.ts'
import { type Method, parsePattern, type Shape } from './pattern.ts'
import { type AddRoute, RouteVerbs } from './verbs.ts'

export const { DuplicateRouteError, RouteOptionError } = defineErrors({
  DuplicateRouteError: ({ method, path, site }: RouteRecord, there: RouteRecord) =>
    `${method} ${path} is registered twice: at ${there.site}${there.path === path ? '' : ` (as ${there.path})`} and at ${site}. Remove one of them or change its path`,
  RouteOptionError: (route: string, place: string, what: string) => `${route} (registered at ${place}): ${what}`,
})

/** One registered route, as it was declared. */
export interface RouteRecord {
  /** The method; a route for every method has one record for each. */
  readonly method: Method
  /** The pattern of the path with the prefixes of its groups: `/users/:id`. */
  readonly path: string
  /** The options as they were when the route was registered, not yet checked. */
  readonly options: RouteOptions
  /** The handler as it was given. */
  readonly handler: (req: never, res: Response) => unknown
  /** The lists of middlewares of the groups around it, outermost first, as they were given. */
  readonly groupMiddlewares: readonly (readonly Middleware[])[]
  /** The middlewares of those lists and of the route itself when it was registered: none of them may be taken away until it is compiled. */
  readonly guards: ReadonlySet<Middleware>
  /** The forms of the pattern: one, or several where parameters are optional. */
  readonly shapes: readonly Shape[]
  /** Whether `any` added it: a route of this method alone takes precedence. */
  readonly isAny: boolean
  /** Where the route was declared, for messages. */
  readonly site: CallSite
}

const describeLost = (option: string) =>
  `the option "${option}" is undefined. Either the name of an import is misspelt, or the imported module imports this one (an import cycle). Correct the import; where the option is not wanted, leave it out`

/**
 * A list of declared routes; servers mount it, each with its own plugins around the routes.
 *
 * It never sees a request. Declaring one method and path twice throws and names both places.
 *
 * @example
 * const routes = new RouteCollection()
 * routes.get('/users/:id', (req) => ({ id: req.params.id }))
 * const server = new Server({ router: routes })
 */
export class RouteCollection extends RouteVerbs {
  readonly #records = new Map<string, RouteRecord>()
  #all: RouteRecord[] = []
  #version = 0

  protected override addRoute(...route: AddRoute): void {
    this.add(...route)
  }

  /** Registers one route; the verbs are the usual way to call it. */
  add(...[method, path, given, handler, groups = [], isAny = false]: AddRoute): RouteRecord {
    const site = new CallSite()
    const shapes = parsePattern(path)
    const options = optionNames(given).map((name) => [name, given[name as keyof RouteOptions]] as const)
    // By name and not by value: a limit, a guard or a response schema must not be lost because its import went wrong.
    const [lost] = options.find(([, value]) => value === undefined) ?? []
    if (lost !== undefined) throw RouteOptionError(`${method} ${path}`, String(site), describeLost(String(lost)))
    const record: RouteRecord = {
      method,
      path,
      // A copy, inherited options included: what is deleted from the given object later may be the guard.
      options: Object.freeze(Object.fromEntries(options)),
      handler: handler as RouteRecord['handler'],
      groupMiddlewares: groups,
      guards: new Set([...groups, given.middlewares ?? []].flat()),
      shapes,
      isAny,
      site,
    }
    const keys = shapes.map(({ key }) => `${isAny ? 'any ' : ''}${method} ${key}`)
    for (const key of keys) {
      const existing = this.#records.get(key)
      if (existing !== undefined) throw DuplicateRouteError(record, existing)
    }
    for (const key of keys) this.#records.set(key, record)
    this.#all.push(record)
    this.#version++
    return record
  }

  /** Takes back routes that belong together, for code that adds them as one. @internal */
  remove(records: readonly RouteRecord[]): void {
    const gone = new Set(records)
    for (const [key, record] of this.#records) if (gone.has(record)) this.#records.delete(key)
    this.#all = this.#all.filter((record) => !gone.has(record))
    this.#version++
  }

  /** Removes every route of this collection; servers that mount it notice at their next request. */
  clearRoutes(): void {
    this.remove(this.#all)
  }

  /** The routes as declared, in order. */
  get routes(): readonly RouteRecord[] {
    return this.#all
  }

  /** A number that increases with every change, so that a server notices new routes. */
  get version(): number {
    return this.#version
  }
}

/**
 * The collection of the whole process: every server without a collection of its own serves its routes.
 *
 * @example
 * router.get('/hello/:name', (req) => ({ hello: req.params.name }))
 */
export const router: RouteCollection = new RouteCollection()
