import { defineError } from '../support/errors.ts'
import type { Middleware } from './middleware.ts'
import type { ApiDoc, RouteOptions } from './options.ts'

export const RouteArgumentsError = defineError(
  'RouteArgumentsError',
  500,
  (method: string, path: string, why: string) =>
    `${method} ${path}: ${why}. A route is registered as (path, handler), (path, options, handler) or (path, [middleware, …], handler)`,
)

/** What a verb was called with, in its one normal form. */
export interface RouteArguments {
  options: RouteOptions
  handler: Function
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** The last argument of the older form describes the route, and guards nothing. */
function apidocOf(value: unknown, fail: (why: string) => Error): ApiDoc {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ApiDoc
  if (typeof value === 'function')
    throw fail('it has a function after its handler: several middlewares stand in a list')
  throw fail(`the description after the handler is ${describe(value)}, not an object`)
}

/** The only place that understands the overloads of the verbs, the older `(path, middlewares, handler, apidoc)` included. */
export function readRouteArguments(method: string, path: string, rest: readonly unknown[]): RouteArguments {
  const fail = (why: string) => RouteArgumentsError(method, String(path), why)
  const [first, second, third, ...more] = rest
  // What is left out may be what asks who somebody is: `(path, auth, log, handler)` would run `log` as the handler.
  if (more.length > 0) throw fail(`it was given ${rest.length + 1} arguments`)
  if (typeof first === 'function' && typeof second !== 'function') {
    if (third !== undefined) throw fail(`got ${describe(third)} after the handler and its description`)
    return { options: second === undefined ? {} : { apidoc: apidocOf(second, fail) }, handler: first }
  }
  if (typeof first === 'function' || Array.isArray(first)) {
    const middlewares = (Array.isArray(first) ? first : [first]) as Middleware[]
    const wrong = middlewares.findIndex((middleware) => typeof middleware !== 'function')
    if (wrong !== -1) throw fail(`middleware ${wrong} is ${describe(middlewares[wrong])}, not a function`)
    if (typeof second !== 'function') throw fail(`the handler is ${describe(second)}, not a function`)
    return {
      options: third === undefined ? { middlewares } : { middlewares, apidoc: apidocOf(third, fail) },
      handler: second,
    }
  }
  if (typeof first !== 'object' || first === null)
    throw fail(`got ${describe(first)} where options or a handler belong`)
  if (typeof second !== 'function') throw fail(`the handler is ${describe(second)}, not a function`)
  if (third !== undefined) throw fail(`got ${describe(third)} after the handler`)
  const options = first as RouteOptions
  const { middlewares = [] } = options
  if (!Array.isArray(middlewares)) throw fail(`options.middlewares is ${describe(middlewares)}, not an array`)
  const wrong = middlewares.findIndex((middleware) => typeof middleware !== 'function')
  if (wrong !== -1) throw fail(`options.middlewares[${wrong}] is ${describe(middlewares[wrong])}, not a function`)
  return { options, handler: second }
}
