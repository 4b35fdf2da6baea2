import { described, OptionError, type OptionPlace, quoted, type Request } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import {
  type Ask,
  type PolicyCheck,
  type PolicyNames,
  type PolicyStatus,
  policyStatus,
  type ResourceMark,
} from './check.ts'

/** One check of a route: its manager, and its name in the manager. */
export interface PolicyRequirement {
  /** The manager that has the check, with its `status` for refused requests, and `askOf`, through which a route asks. */
  readonly manager: {
    readonly '~policies': PolicyNames
    readonly status: PolicyStatus
    askOf(scope: string, handler: string, status?: PolicyStatus): Ask
  }
  /** The name of its group of checks in the manager. */
  readonly scope: string
  /** The name of the check in the group. */
  readonly handler: string
  /** The status of the response to a refused request; default: that of the manager. */
  readonly status?: PolicyStatus
}

/** The values of the route option `policy`. */
export type PolicyOption = PolicyRequirement | readonly PolicyRequirement[]

/**
 * The names of the checks that a route can use, with `(user, req)`. A check about a resource would receive the request
 * instead, and compare missing members.
 */
export type RouteCheckName<Checks> = {
  [Name in keyof Checks]: Checks[Name] extends ResourceMark
    ? never
    : // What is known as a requirement only is checked at boot.
      Function extends Checks[Name]
      ? Name
      : Checks[Name] extends (user: never, req: Request) => unknown
        ? Name
        : never
}[keyof Checks]

/** The valid form of one requirement: names that its manager has. */
type CheckedRequirement<Given> = Given extends {
  readonly manager: { readonly '~policies': infer Policies }
  readonly scope: infer Scope
}
  ? {
      readonly manager: PolicyRequirement['manager']
      readonly scope: keyof Policies & string
      readonly handler: Scope extends keyof Policies ? CheckedHandler<Given, Policies[Scope]> : string
      readonly status?: PolicyStatus
    }
  : PolicyRequirement

type CheckedHandler<Given, Checks> = Given extends { readonly handler: infer Handler extends keyof Checks & string }
  ? Handler extends RouteCheckName<Checks>
    ? Handler
    : `the check ${Handler} asks about a resource: ask it in the handler, with canAccess`
  : RouteCheckName<Checks> & string

/** Checks the names in a `policy` option against its manager: an unknown name does not compile. */
export type CheckedPolicy<Given> = Given extends undefined
  ? 'undefined would leave the route open; leave the option out'
  : Given extends readonly []
    ? 'an empty list would leave the route open'
    : Given extends readonly unknown[]
      ? { readonly [Index in keyof Given]: CheckedRequirement<Given[Index]> }
      : CheckedRequirement<Given>

const form = '{ manager, scope, handler } or a list of such objects'

const requirement = option.shape({
  manager: option.having<PolicyRequirement['manager']>(['askOf'], 'a PolicyManager').required(),
  scope: option.name().says('the name of a scope').required(),
  handler: option.name().says('the name of a check').required(),
  status: policyStatus,
})

/** The requirements of a route as a list, each in the right form. */
export function policyOfRoute(given: unknown, place: OptionPlace): readonly PolicyRequirement[] {
  if (!Array.isArray(given)) return [requirementOf(given, place)]
  // An empty list would silently leave the route open.
  if (given.length === 0) place.wrong(described('an empty list'), `${form}; leave it out for an open route`)
  // A hole in a list is not a requirement, either.
  return Array.from<unknown, PolicyRequirement>(given, (one, i) => requirementOf(one, place.in(i)))
}

function requirementOf(given: unknown, place: OptionPlace): PolicyRequirement {
  if (typeof given === 'object' && given !== null) return requirement.read(given as PolicyRequirement, place)
  place.wrong(quoted(given), form)
  // The boot fails, so this is never used.
  return undefined as never
}

/** A check that declares which members the request has once it has passed. */
export interface ProvingCheck<Extension extends object> {
  (user: unknown, req: Request): boolean | Promise<boolean>
  /** Exists for the type checker only. */
  readonly '~extension'?: Extension
}

/**
 * Declares which members a check proves: handlers of its routes find them on the request and need not check again. A check that
 * is a type predicate about the user, `(user?: User) => user !== undefined`, proves `{ user: User }` by itself.
 *
 * @example
 * interface User { id: string; role: 'admin' | 'member' }
 * const policies = new PolicyManager({
 *   site: { admin: proves<{ user: User }>(async (user) => (user as User | undefined)?.role === 'admin') },
 * })
 * router.get('/me', { policy: { manager: policies, scope: 'site', handler: 'admin' } }, (req) => req.user.id)
 */
export function proves<Extension extends object>(check: PolicyCheck): ProvingCheck<Extension> {
  if (typeof check !== 'function') throw OptionError('proves', check, 'a function (user, req) => boolean')
  return check as ProvingCheck<Extension>
}

/** The proof of one check. A predicate is about its user, which is `req.user` unless another one is set. */
export type ProofOf<Check, IsAboutUser> = Check extends { readonly '~extension'?: infer Extension extends object }
  ? Extension
  : // biome-ignore lint/suspicious/noExplicitAny: a predicate for a certain user is not one for `unknown`
    Check extends (user: any, req: any) => user is infer User
    ? true extends IsAboutUser
      ? { readonly user: User }
      : {}
    : {}

type ProofOfRequirement<Given> = Given extends {
  readonly manager: { readonly '~policies': infer Policies; readonly '~isAboutUser': infer IsAboutUser }
  readonly scope: infer Scope
  readonly handler: infer Name
}
  ? Scope extends keyof Policies
    ? Name extends keyof Policies[Scope]
      ? ProofOf<Policies[Scope][Name], IsAboutUser>
      : {}
    : {}
  : {}

/** The proof of a route's `policy`: all checks of a list must pass. */
export type ProofOfPolicy<Given> = Given extends readonly [infer First, ...infer Rest]
  ? ProofOfRequirement<First> & ProofOfPolicy<Rest>
  : Given extends PolicyRequirement
    ? ProofOfRequirement<Given>
    : {}
