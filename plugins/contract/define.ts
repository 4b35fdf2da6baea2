import { type Method, methods, parsePattern, type Shape } from '../../kernel/routing/pattern.ts'
import { defineError, withCause } from '../../kernel/support/errors.ts'
import { didYouMean } from '../../kernel/support/nearest.ts'

export const ContractError = defineError('ContractError', (what: string) => what)

/** One route of a contract: its request and its responses. Schemas may be of any kind that routes accept. */
export interface ContractRoute {
  /** The method of the route: `GET`. */
  readonly method: Method
  /** The pattern of the path: `/users/:id`. */
  readonly path: string
  /** The schema of the path's parameters. */
  readonly params?: object
  /** The schema of the query. */
  readonly query?: object
  /** The schema of the request headers that the route reads, names in lower case. */
  readonly headers?: object
  /** The schema of the body, which is sent as JSON; not for GET, HEAD and OPTIONS. */
  readonly body?: object
  /** The schemas of the responses' bodies, by status; the result of a call has one of these types. */
  readonly responses?: { readonly [status: number]: object }
  /**
   * Whether the server carries a call out once, however often it is sent: the client makes an `Idempotency-Key`, and sends the call again if no
   * response comes. The option `idempotency` of the route is set; the implementation may give its details.
   */
  readonly idempotency?: true
}

/** Routes by the names under which they are implemented and called. */
export interface Contract {
  readonly [name: string]: ContractRoute
}

const schemaMembers = ['params', 'query', 'headers', 'body', 'responses'] as const
export const contractMembers = ['method', 'path', ...schemaMembers, 'idempotency'] as const
const bodiless: readonly string[] = ['GET', 'HEAD', 'OPTIONS']
export type Bodiless = { readonly method: 'GET' | 'HEAD' | 'OPTIONS' }

/** The names of the routes, by method and path; a route that is declared twice has several names. */
type NamesByRoute<Routes> = {
  [Name in keyof Routes as Routes[Name] extends {
    readonly method: infer M extends string
    readonly path: infer P extends string
  }
    ? `${M} ${P}`
    : never]: Name
}

/** The type with which a contract is compared, so that mistakes are reported at the member that is wrong. */
// The first branch is never taken, but `Routes` is inferred from it.
type Checked<Routes> = [Routes] extends [never]
  ? Routes
  : {
      readonly [Name in keyof Routes]: Name extends 'then'
        ? 'a client with a route "then" would be taken for a promise: choose another name'
        : CheckedRoute<Routes[Name], Name, NamesByRoute<Routes>>
    }

type CheckedRoute<Route, Name, Names> = {
  readonly [Member in keyof Route | 'method' | 'path']: Member extends 'path'
    ? CheckedPath<Route, Name, Names>
    : Member extends 'body'
      ? Route extends Bodiless
        ? 'a request of this method has no body'
        : object
      : Member extends keyof ContractRoute
        ? NonNullable<ContractRoute[Member]>
        : `${Member & string} is not a member of a route of a contract`
}

type CheckedPath<Route, Name, Names> = Route extends {
  readonly method: infer M extends string
  readonly path: infer P extends `/${string}`
}
  ? // Uses inference, because `keyof Names` would be computed from all routes again for each route.
    Names extends { readonly [Key in `${M} ${P}`]: infer Found }
    ? [Found] extends [Name]
      ? string
      : `${M} ${P} is the route ${Exclude<Found, Name> & string} as well`
    : string
  : `/${string}`

/**
 * Describes routes separately from their handlers: `implement` registers them as routes, `contractClient` makes functions that call them.
 *
 * It runs wherever the client runs, and so must its arguments: schemas, but nothing from the server.
 *
 * @throws ContractError for an impossible route, naming it.
 * @example
 * import { defineContract } from 'framework/contract'
 * import { z } from 'zod'
 *
 * const Post = z.object({ id: z.string(), title: z.string() })
 * export const shop = defineContract({
 *   readPost: { method: 'GET', path: '/posts/:id', responses: { 200: Post } },
 *   addPost: { method: 'POST', path: '/posts', body: z.object({ title: z.string() }), responses: { 201: Post } },
 * })
 */
export function defineContract<const Routes extends object>(routes: Checked<Routes>): Routes {
  readContract(routes)
  return routes as object as Routes
}

/** A route of a contract that has been checked. */
export interface NamedRoute {
  readonly name: string
  readonly route: ContractRoute
  /** The segments of the path, including all optional parameters. */
  readonly segments: Shape['segments']
}

/** Checks a contract, which may come from JavaScript or another copy of this package. */
export function readContract(contract: object): NamedRoute[] {
  if (typeof contract !== 'object' || contract === null || Array.isArray(contract)) {
    throw ContractError('a contract is an object of routes by their names')
  }
  const there = new Map<string, string>()
  return Reflect.ownKeys(contract).map((key) => {
    const name = String(key)
    const fail = (what: string) => ContractError(`the route ${name} of the contract: ${what}`)
    if (typeof key === 'symbol') throw fail('its name is a symbol, not a string')
    if (name === 'then') throw fail('a client with a route "then" would be taken for a promise. Choose another name')
    const route = (contract as Contract)[name]!
    const shapes = readRoute(route, fail)
    for (const { key: path } of shapes) {
      const other = there.get(`${route.method} ${path}`)
      if (other !== undefined)
        throw fail(`${route.method} ${route.path} is the route ${other} as well. Remove one of them`)
    }
    for (const { key: path } of shapes) there.set(`${route.method} ${path}`, name)
    return { name, route, segments: shapes[0]!.segments }
  })
}

function readRoute(route: ContractRoute, fail: (what: string) => Error): Shape[] {
  if (typeof route !== 'object' || route === null) throw fail('a route is an object with method and path')
  for (const key of Reflect.ownKeys(route)) {
    const member = String(key)
    if ((contractMembers as readonly string[]).includes(member)) continue
    throw fail(
      `"${member}" is not a member of a route.${didYouMean(member, contractMembers)} Known members: ${contractMembers.join(', ')}; pass the other options of the route with its handler, to implement()`,
    )
  }
  const { method, path, responses } = route
  if (!methods.includes(method)) throw fail(`its method is one of ${methods.join(', ')}`)
  if (route.body !== undefined && bodiless.includes(method)) throw fail(`a ${method} request has no body`)
  for (const member of schemaMembers) {
    if (!(member in route)) continue
    const given: unknown = route[member]
    if (given === undefined) throw fail(`its ${member} is undefined. Correct the import, or leave it out`)
    if (given === null || !['object', 'function'].includes(typeof given)) {
      throw fail(member === 'responses' ? 'its responses are schemas by status' : `its ${member} is a schema`)
    }
  }
  if ('idempotency' in route && route.idempotency !== true)
    throw fail('its idempotency is true; pass its details with its handler, to implement()')
  for (const status of Object.keys(responses ?? {})) {
    if (!/^[2-5]\d\d$/.test(status)) throw fail(`"${status}" in its responses is not a status from 200 to 599`)
  }
  try {
    return parsePattern(path)
  } catch (error) {
    throw withCause(fail((error as Error).message), error)
  }
}
