import type { KernelRequest, Request } from '../../../kernel/http/request/request.ts'
import type { Route } from '../../../kernel/routing/route.ts'

/**
 * A value that a plugin computes once for each route and reads at every request: its own form of a route option.
 *
 * It belongs to the compiled route and not to the route's name: it is removed with its route, and HEAD has the value of its
 * GET route.
 *
 * @example
 * const limits = new RouteValue<number>()
 * ctx.onRoute((route) => limits.set(route, route.path.length))
 * ctx.use((req, _res, next) => {
 *   const limit = limits.of(req) ?? 10
 *   return limit > 0 ? next() : undefined
 * })
 */
export class RouteValue<Value> {
  /** Stores a value for a route, in an `onRoute` hook; `undefined` is not stored. */
  set(route: Route, value: Value | undefined): void {
    if (value !== undefined) route.values.set(this, value)
  }

  /** The value of the route that handles it; `undefined` where it has none, and for 404 and 405. */
  of(req: Request): Value | undefined {
    // Only `set` stores values under this key.
    return (req as KernelRequest).compiled.values?.get(this) as Value | undefined
  }
}

/** The routes that plugin `session` reaches: an `onRoute` hook finds a route here if sessions are loaded before the middlewares of its plugin. */
export const routesWithSessions = new WeakSet<object>()
