import type { Handler, OptionChecks, Request, Response, RouteOptions, Routes } from '../../kernel/index.ts'
import type { BodilessOptions } from '../../kernel/routing/options.ts'
import type { OptionsExtension } from '../../kernel/routing/params.ts'
import { didYouMean } from '../../kernel/support/nearest.ts'
import { isOptions, optionOf } from '../../kernel/support/options.ts'
import { type Bodiless, ContractError, type ContractRoute, contractMembers, readContract } from './define.ts'

type HandlerOf<Route, Extension, Prefix extends string, Options> = Route extends {
  readonly path: infer Path extends string
}
  ? Handler<`${Prefix}${Path}`, Extension & OptionsExtension<Options>, Route & Options>
  : never

/**
 * A handler, or an object with a handler and further options. The given value is `unknown` until its functions have been typed; until then,
 * both forms are possible.
 */
type Implementation<Route, Extension, Prefix extends string, Given> =
  | HandlerOf<Route, Extension, Prefix, {}>
  | ({ readonly [Member in keyof Given]: Checked<Route, Extension, Prefix, Given, Member> } & {
      /** The handler of the route. */
      readonly handler: unknown
    })

// The first branch is never taken, but the member is inferred from it.
type Checked<Route, Extension, Prefix extends string, Given, Member extends keyof Given> = [Given[Member]] extends [
  never,
]
  ? Given[Member]
  : Member extends 'handler'
    ? HandlerOf<Route, Extension, Prefix, NoInfer<Given>>
    : Member extends Exclude<keyof ContractRoute, 'idempotency'>
      ? `${Member} is said by the contract`
      : Member extends keyof BodilessOptions
        ? Route extends Bodiless
          ? BodilessOptions[Member]
          : RouteOptions[Member & keyof RouteOptions]
        : Member extends keyof RouteOptions
          ? Member extends keyof OptionChecks<Given>
            ? OptionChecks<Given>[Member]
            : RouteOptions[Member]
          : `${Member & string} is not a route option`

/**
 * Registers the routes of a contract, each with its handler; `routes` is any object with verb methods: a collection, a group, a server or
 * the context of a plugin.
 *
 * They are routes like any others. The name of each is its `operationId` in the API description, unless `apidoc` sets another one.
 *
 * @throws ContractError for a route without an implementation or an implementation without a route, before anything is registered.
 * @example
 * import { implement, router } from 'framework'
 * import { defineContract } from 'framework/contract'
 *
 * const shop = defineContract({ readPost: { method: 'GET', path: '/posts/:id' } })
 * implement(router, shop, { readPost: (req) => ({ id: req.params.id }) })
 */
export function implement<Extension, Prefix extends string, const Contract extends object, const Given extends object>(
  routes: Routes<Extension, Prefix>,
  contract: Contract,
  implementations: {
    readonly [Name in keyof Given]: Implementation<
      Name extends keyof Contract ? Contract[Name] : never,
      Extension,
      Prefix,
      Given[Name]
    >
  } & { readonly [Name in keyof NoInfer<Contract>]: unknown } & {
    readonly [Name in Exclude<keyof NoInfer<Given>, keyof Contract>]: `${Name & string} is not a route of the contract`
  },
): void {
  const named = readContract(contract)
  const given = implementations as Readonly<Record<string, unknown>>
  if (typeof given !== 'object' || given === null)
    throw ContractError('implement takes handlers by the names of the contract')
  const names = named.map(({ name }) => name)
  const missing = names.filter((name) => optionOf(given, name) === undefined)
  if (missing.length > 0) throw ContractError(`the implementation of ${missing.join(', ')} is missing`)
  for (const name of Reflect.ownKeys(given).map(String)) {
    if (names.includes(name)) continue
    throw ContractError(`"${name}" is implemented, but is not a route of the contract.${didYouMean(name, names)}`)
  }
  const all = named.map(({ name, route }) => ({ route, ...read(name, given[name]) }))
  for (const { route, options, handler } of all) {
    const { method, path, ...schemas } = route
    const verb = routes[method.toLowerCase() as 'post'] as (path: string, options: object, handler: unknown) => void
    verb(path, { ...schemas, ...options }, withStatus(onlySuccess(route.responses), handler))
  }
}

/** Returns the status of the only success that a route declares, if that is not 200. */
function onlySuccess(responses: object = {}): number | undefined {
  const [status, ...others] = Object.keys(responses).filter((key) => /^2\d\d$/.test(key))
  return status === undefined || status === '200' || others.length > 0 ? undefined : Number(status)
}

/** Makes the return value of a handler answered with the status that the contract promises. */
function withStatus(status: number | undefined, handler: Function): Function {
  if (status === undefined) return handler
  const answering = (req: Request, res: Response) => {
    res.status(status)
    return handler(req, res)
  }
  return Object.defineProperty(answering, 'name', { value: handler.name })
}

function read(name: string, given: unknown): { options: RouteOptions; handler: Function } {
  const { handler, ...options } = (typeof given === 'function' ? { handler: given } : Object(given)) as RouteOptions & {
    handler?: unknown
  }
  if (typeof handler !== 'function') throw ContractError(`the implementation of ${name} has no handler`)
  for (const member of contractMembers) {
    // Its details are those of the server.
    if (member in options && !(member === 'idempotency' && options.idempotency))
      throw ContractError(`the implementation of ${name} has "${member}", which the contract already sets`)
  }
  const { apidoc } = options
  const isKept = 'apidoc' in options && !isOptions(apidoc)
  return { options: isKept ? options : { ...options, apidoc: { operationId: name, ...apidoc } }, handler }
}
