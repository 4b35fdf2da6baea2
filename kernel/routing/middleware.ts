import type { Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import { CallSite } from '../support/call-site.ts'
import { defineErrors } from '../support/errors.ts'
import { tagOf } from '../support/options.ts'

/**
 * Continues with the next step and settles when everything after it has settled.
 *
 * `next(error)` is the same as throwing the error. Calling it twice is an error that names the middleware.
 */
export type Next = (error?: unknown) => void | Promise<void>

/**
 * One step in the handling of a request: answers through `res`, or continues with `next()`.
 *
 * What a middleware returns is only looked at when it is a promise.
 */
// The type of a method, so that a middleware for an extended request fits wherever middlewares are accepted.
export type Middleware = { run(req: Request, res: Response, next: Next): unknown }['run']

export const { NotAMiddlewareError } = defineErrors({
  NotAMiddlewareError: (what: string) => `${what}. A middleware is one function (req, res, next)`,
})

// The type of a method, so that a middleware that adds more is accepted where one that adds less is expected.
type Adding<Extension> = { run(req: Request & Extension, res: Response, next: Next): unknown }['run']

/** A middleware that declares, for the type checker, what it adds to the request for every step after it. */
export interface TypedMiddleware<out Extension extends object = {}> extends Adding<Extension> {
  /** Exists for the type checker only. */
  readonly '~extension'?: Extension
}

/**
 * Declares what a middleware adds to the request, so that handlers after it see the added members.
 *
 * @example
 * const user = defineMiddleware<{ user: { id: string } }>((req, res, next) => {
 *   const token = req.headers.authorization
 *   if (token === undefined) return res.unauthorized()
 *   req.user = { id: token }
 *   return next()
 * })
 */
export function defineMiddleware<Extension extends object = {}>(
  middleware: (req: Request & Extension, res: Response, next: Next) => unknown,
  ...more: never[]
): TypedMiddleware<Extension> {
  if (more.length > 0) throw NotAMiddlewareError('defineMiddleware() takes one function; call it once for each')
  if (typeof middleware !== 'function') throw NotAMiddlewareError('defineMiddleware() takes a function')
  if (middleware.name === '') places.set(middleware, new CallSite())
  return middleware
}

/** Marks factories and registrations; `Symbol.for`, so that a plugin built against another copy of the package is still one. */
export const pluginMark = Symbol.for('framework.plugin')

/** The number of the contract that a factory or a registration was made for; `undefined` for anything else. */
export function contractOf(value: unknown): unknown {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? (value as Record<symbol, unknown>)[pluginMark]
    : undefined
}

/** The first mistake in the middlewares of a route or a group, if there is one: `is a string, not a function`, with its place. */
export function middlewareMistake(middlewares: readonly unknown[]): { place: number; why: string } | undefined {
  for (const [place, one] of middlewares.entries()) {
    if (typeof one !== 'function') return { place, why: `is ${kindOf(one)}, not a function` }
    // Called as a middleware, it would return a registration, and the request would wait until its timeout.
    if (contractOf(one) !== undefined) return { place, why: `is the plugin "${one.name}", which belongs in register()` }
  }
  return undefined
}

/** The kind of a value, in words. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  const kind = tagOf(value)
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind === 'Object' ? 'object' : kind}`
}

/** Where functions without a name were defined. */
const places = new WeakMap<Function, CallSite>()

/**
 * The name that a listing, a trace or an error message shows for a function. For a function without a name, it is the place of its
 * definition, or `site`, where it was registered.
 */
export function nameOf(fn: Function, fallback = 'anonymous', site = places.get(fn)): string {
  if (fn.name !== '') return fn.name
  const place = (places.get(fn) ?? site)?.toLine()
  return place === undefined ? fallback : `${fallback} (${place})`
}
