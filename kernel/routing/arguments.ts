import { defineError } from '../support/errors.ts'
import type { Middleware } from './middleware.ts'
import type { ApiDoc, RouteOptions } from './options.ts'

export const RouteArgumentsError = defineError(
  'RouteArgumentsError',
  500,
  (method: string, path: string, why: string) =>
    `${method} ${path}: ${why}. A route is registered as (path, handler), (path, options, handler) or (path, middlewares, handler)`,
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

/** The only place that understands the overloads of the verbs, the older `(path, middlewares, handler, apidoc)` included. */
export function readRouteArguments(method: string, path: string, rest: readonly unknown[]): RouteArguments {
  const fail = (why: string) => RouteArgumentsError(method, String(path), why)
  const [first, second, third] = rest
  if (typeof first === 'function' && typeof second !== 'function') {
    return { options: second === undefined ? {} : { apidoc: second as ApiDoc }, handler: first }
  }
  if (typeof first === 'function' || Array.isArray(first)) {
    const middlewares = (Array.isArray(first) ? first : [first]) as Middleware[]
    const wrong = middlewares.findIndex((middleware) => typeof middleware !== 'function')
    if (wrong !== -1) throw fail(`middleware ${wrong} is ${describe(middlewares[wrong])}, not a function`)
    if (typeof second !== 'function') throw fail(`the handler is ${describe(second)}, not a function`)
    return {
      options: third === undefined ? { middlewares } : { middlewares, apidoc: third as ApiDoc },
      handler: second,
    }
  }
  if (typeof first !== 'object' || first === null)
    throw fail(`got ${describe(first)} where options or a handler belong`)
  if (typeof second !== 'function') throw fail(`the handler is ${describe(second)}, not a function`)
  const options = first as RouteOptions
  const { middlewares = [] } = options
  if (!Array.isArray(middlewares)) throw fail(`options.middlewares is ${describe(middlewares)}, not an array`)
  const wrong = middlewares.findIndex((middleware) => typeof middleware !== 'function')
  if (wrong !== -1) throw fail(`options.middlewares[${wrong}] is ${describe(middlewares[wrong])}, not a function`)
  return { options, handler: second }
}
