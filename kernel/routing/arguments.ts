import { defineErrors } from '../support/errors.ts'
import { isOptions, optionNames } from '../support/options.ts'
import { kindOf, type Middleware, middlewareMistake } from './middleware.ts'
import type { RouteDescription, RouteOptions } from './options.ts'

export const { RouteArgumentsError, WebsocketArgumentsError, GroupArgumentsError } = defineErrors({
  RouteArgumentsError: (method: string, path: string, why: string) =>
    `${method} ${path}: ${why}. A route is registered as (path, handler), (path, options, handler) or (path, [middleware, …], handler)`,
  WebsocketArgumentsError: (path: string, why: string) =>
    `ws ${path}: ${why}. A websocket is registered as (path, handlers) or (path, options, handlers)`,
  GroupArgumentsError: (prefix: string, why: string) =>
    `group ${prefix}: ${why}. A group is registered as (prefix, define) or (prefix, middlewares, define)`,
})

/** The arguments of a verb, in their one normal form. */
export interface RouteArguments {
  options: RouteOptions
  handler: Function
}

/** The option that the last argument of the older form sets: it describes the route, and guards nothing. */
export const description = 'apidoc'

function described(value: unknown, fail: (why: string) => Error): RouteOptions {
  if (value === undefined) return {}
  if (isOptions(value)) return { [description]: value as RouteDescription }
  if (typeof value === 'function')
    throw fail('it has a function after its handler: pass several middlewares as an array')
  throw fail(`the description after the handler is ${kindOf(value)}, not an object`)
}

/** The only place that understands the overloads of the verbs, including the older `(path, middlewares, handler, apidoc)`. */
export function readRouteArguments(method: string, path: string, rest: readonly unknown[]): RouteArguments {
  const fail = (why: string) => RouteArgumentsError(method, String(path), why)
  const [first, second, third, ...more] = rest
  // An ignored argument could disable the guard: `(path, auth, log, handler)` would run `log` as the handler.
  if (more.length > 0) throw fail(`it received ${rest.length + 1} arguments`)
  if (typeof first === 'function' && typeof second !== 'function') {
    if (third !== undefined) throw fail(`got ${kindOf(third)} after the handler and its description`)
    return { options: described(second, fail), handler: first }
  }
  if (typeof first === 'function' || Array.isArray(first)) {
    const middlewares = (Array.isArray(first) ? first : [first]) as Middleware[]
    const wrong = middlewareMistake(middlewares)
    if (wrong !== undefined) throw fail(`middleware ${wrong.place} ${wrong.why}`)
    if (typeof second !== 'function') throw fail(`the handler is ${kindOf(second)}, not a function`)
    return { options: { middlewares, ...described(third, fail) }, handler: second }
  }
  // A promise or a Map of options would leave the route without its guards.
  if (!isOptions(first)) throw fail(`got ${kindOf(first)} instead of options or a handler`)
  if (typeof second !== 'function') throw fail(`the handler is ${kindOf(second)}, not a function`)
  if (third !== undefined) throw fail(`got ${kindOf(third)} after the handler`)
  const options = first as RouteOptions
  const { middlewares = [] as unknown } = options
  if (!Array.isArray(middlewares)) throw fail(`options.middlewares is ${kindOf(middlewares)}, not an array`)
  const wrong = middlewareMistake(middlewares)
  if (wrong !== undefined) throw fail(`options.middlewares[${wrong.place}] ${wrong.why}`)
  return { options, handler: second }
}

/** Turns `(path, handlers)` or `(path, options, handlers)` of a websocket into the options of its route. The plugin reads the handlers. */
export function readUpgradeArguments(path: string, rest: readonly unknown[]): RouteOptions {
  const [options, handlers] = rest.length === 1 ? [{}, rest[0]] : rest
  const fail = (why: string) => WebsocketArgumentsError(String(path), why)
  if (rest.length > 2) throw fail(`it received ${rest.length + 1} arguments`)
  for (const [what, one] of Object.entries({ options, handlers }))
    if (!isOptions(one)) throw fail(`the ${what} are ${kindOf(one)}, not an object`)
  const given = options as Record<PropertyKey, unknown>
  if ('websocket' in given) throw fail('pass the handlers as the last argument, not as a member of the options')
  // Including inherited options: one of them may be a guard.
  const all = optionNames(given).map((name) => [name, given[name]])
  return { ...Object.fromEntries(all), websocket: handlers } as RouteOptions
}
