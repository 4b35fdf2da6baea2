import {
  defineErrors,
  didYouMean,
  isPromise,
  type Logger,
  OptionError,
  type Request,
  type TypedMiddleware,
  within,
} from '../../kernel/index.ts'
import { missingMember } from '../shared/failures/missing-members.ts'
import { lineLogger } from '../shared/logging/logger.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import {
  type Ask,
  type Caller,
  type ChecksOf,
  isForResource,
  type PolicyCheck,
  type PolicyNames,
  type PolicyStatus,
  policyStatus,
} from './check.ts'
import { type PolicyDecorator, policyDecorator } from './decorator.ts'
import { guard, reportRefusal } from './denial.ts'
import type { ProofOf, RouteCheckName } from './options.ts'

const { UnknownPolicyError, ResourcePolicyError } = defineErrors({
  UnknownPolicyError: (what: string, name: string, known: readonly string[]) => {
    const names = known.map((one) => JSON.stringify(one)).join(', ') || 'none'
    return `${what} ${JSON.stringify(name)}.${didYouMean(name, known)} Known: ${names}`
  },
  ResourcePolicyError: (scope: string, handler: string, why: string) =>
    `the check ${JSON.stringify(`${scope}.${handler}`)} cannot guard a route: ${why}, but a route calls it with (user, req). Call it in the handler, with the resource: await policies.canAccess(${JSON.stringify(scope)}, ${JSON.stringify(handler)}, user, resource)`,
})

/** Options of a policy manager. */
export interface PolicyManagerOptions {
  /** The subject of the checks of a route; may be async. Default `req.user`. */
  user?(req: Request): unknown
  /**
   * The status of the response to a refused request of a route. `'byUser'` is 403 if the checks have a user, because signing in again
   * would not help, and 401 if they do not. Default 401.
   */
  status?: PolicyStatus
  /**
   * The header `WWW-Authenticate` of a 401: how a client signs in, such as `'Bearer'`. RFC 9110 section 11.6.1 requires one, which
   * only the application knows; sessions have none.
   */
  challenge?: string
  /** Milliseconds after which a check that has not settled counts as a refusal. Default 5000. */
  timeout?: number
  /** The logger for errors in checks of `canAccess`; checks of routes log to `req.log`. Default standard error. */
  logger?: Logger
}

const managerOptions = option
  .shape({
    status: policyStatus.default(401),
    challenge: option.name(/^[\x20-\x7e]+$/, 'a header value in printable ASCII, such as "Bearer"'),
    user: option
      .fn<(req: Request) => unknown>('a function (req) => user')
      .default((req) => (req as Request & { user?: unknown }).user),
    timeout: option.ms({ above: 0 }).default(5_000),
    logger: option.having<Logger>(['error'], 'a logger'),
  })
  .typed<PolicyManagerOptions>()

const guardOptions = option.shape({ status: policyStatus })

type ArgumentsOf<Check> = Check extends (...args: infer Args) => unknown
  ? Args extends []
    ? unknown[]
    : Args
  : unknown[]

/** A check as its manager stores it. */
interface KeptCheck {
  readonly run: PolicyCheck
  readonly unfit: string | undefined
}

/**
 * Named checks of users' permissions, for routes (option `policy`) and for handlers (`canAccess`).
 *
 * It fails closed: only `true` allows. A check that throws, rejects, returns anything else or does not settle in time
 * refuses, and the reason is logged.
 *
 * @example
 * interface User { id: string; role: 'admin' | 'member' }
 * const policies = new PolicyManager({
 *   posts: {
 *     read: () => true,
 *     edit: forResource((user: User | undefined, post: { author: string }) => user?.id === post.author),
 *   },
 *   site: { admin: async (user?: User) => user?.role === 'admin' },
 * })
 * router.get('/admin', { policy: { manager: policies, scope: 'site', handler: 'admin' } }, () => 'welcome')
 */
export class PolicyManager<
  const Policies extends PolicyNames = PolicyNames,
  Options extends PolicyManagerOptions = {},
> {
  /** Exists for the type checker only, like the next one. */
  declare readonly '~policies': Policies
  /** Whether the checks of routes receive `req.user`, so that their proofs apply to it. */
  declare readonly '~isAboutUser': 'user' extends keyof Options ? false : true
  // A map of copies: no name reaches a prototype, and later changes to the record do not change permissions.
  readonly #checks = new Map<string, Map<string, KeptCheck>>()
  readonly #settings: SettingsOf<typeof managerOptions>
  /** The status of the response to a refused request of a route. */
  readonly status: PolicyStatus

  // Two numbers of parameters: the compiler reports a wrong check for the one that was called, and not for both.
  constructor(policies: Policies & ChecksOf<Policies, Caller>)
  constructor(
    policies: Policies & ChecksOf<Policies, unknown>,
    // The first branch is never taken: `Options` is inferred from it.
    options: ([Options] extends [never] ? Options : PolicyManagerOptions) | undefined,
  )
  constructor(policies: Policies, options?: PolicyManagerOptions) {
    this.#settings = managerOptions.parse(options ?? {}, 'PolicyManager')
    this.status = this.#settings.status
    for (const [scope, checks] of entriesOf('policies', policies)) {
      const copies = new Map<string, KeptCheck>()
      for (const [handler, check] of entriesOf(`policies.${scope}`, checks)) {
        if (typeof check !== 'function') throw OptionError(`policies.${scope}.${handler}`, check, 'a function')
        copies.set(handler, { run: (check as PolicyCheck).bind(checks), unfit: whyUnfit(check) })
      }
      this.#checks.set(scope, copies)
    }
  }

  /**
   * Whether a check allows a user; it is called with exactly the given arguments.
   *
   * @throws (as a rejection) UnknownPolicyError for an unknown name; never the error of a check.
   * @example
   * const policies = new PolicyManager({ posts: { edit: forResource((user: string, author: string) => user === author) } })
   * if (!(await policies.canAccess('posts', 'edit', 'ann', 'bob'))) res.forbidden()
   */
  async canAccess<Scope extends keyof Policies & string, Name extends keyof Policies[Scope] & string>(
    scope: Scope,
    handler: Name,
    ...args: ArgumentsOf<Policies[Scope][Name]>
  ): Promise<boolean> {
    const { run } = this.#find(scope, handler)
    const { timeout, logger } = this.#settings
    const passes = await verdictOf(
      () => run(args[0], ...args.slice(1)),
      timeout,
      (why, error) => logFault(logger ?? lineLogger(), scope, handler, why, error),
    )
    if (!passes) reportRefusal({ policy: `${scope}.${handler}` })
    return passes
  }

  /**
   * Returns a check as a middleware, for a group, a plugin or a whole server: it also guards later registrations there.
   *
   * @throws UnknownPolicyError for an unknown name, ResourcePolicyError for a check about a resource.
   * @example
   * const policies = new PolicyManager({ site: { admin: (user?: { id: string; admin?: boolean }) => user?.admin === true } })
   * router.group('/admin', [policies.guard('site', 'admin')], (admin) => {
   *   admin.get('/stats', () => 'numbers')
   * })
   */
  guard<Scope extends keyof Policies & string, const Name extends RouteCheckName<Policies[Scope]> & string>(
    scope: Scope,
    handler: Name,
    options: { readonly status?: PolicyStatus } = {},
  ): TypedMiddleware<ProofOf<Policies[Scope][Name], this['~isAboutUser']>> {
    const { status } = guardOptions.parse(options, 'guard')
    const requirement = { manager: this, scope, handler, ...(status !== undefined && { status }) }
    return guard(requirement, ({ server }) => server.services.get('policy'))
  }

  /**
   * Makes the decorator `policy(scope, handler)` of this manager, for controllers and their methods.
   *
   * All checks of a class and a method must pass: those of the class first, in each place from the top down.
   *
   * @throws (from the decorator) UnknownPolicyError for an unknown name, ResourcePolicyError for a check about
   * a resource.
   * @example
   *   const policies = new PolicyManager({ site: { admin: (user?: { id: string; admin?: boolean }) => user?.admin === true } })
   *   const policy = policies.createDecorator()
   *
   *   @controller('/stats')
   *   @policy('site', 'admin')
   *   class Stats {
   *     @get('/')
   *     all() {}
   *   }
   */
  createDecorator(): PolicyDecorator<Policies> {
    return policyDecorator<Policies>(this)
  }

  /**
   * Returns one check for the requests of a route, as the route option `policy` uses it.
   *
   * @throws UnknownPolicyError for an unknown name. ResourcePolicyError for a check about a resource: it
   * would receive the request instead, and compare missing members, `undefined === undefined`.
   */
  askOf(scope: string, handler: string, status: PolicyStatus = this.status): Ask {
    const { run, unfit } = this.#find(scope, handler)
    if (unfit !== undefined) throw ResourcePolicyError(scope, handler, unfit)
    const { user, timeout, challenge } = this.#settings
    const known = new WeakSet<Request>()
    const askAbout = (subject: unknown, req: Request) => {
      if (status === 'byUser' && subject != null && subject !== false) known.add(req)
      return run(subject, req)
    }
    const ask = (req: Request) =>
      verdictOf(
        () => {
          const subject = user(req)
          // A promise instead of a user would pass every check that only tests whether there is a user.
          return isPromise(subject)
            ? Promise.resolve(subject).then((one) => askAbout(one, req))
            : askAbout(subject, req)
        },
        timeout,
        (why, error) => logFault(req.log, scope, handler, `${why}${missingMember(req, error)}`, error),
      )
    // If determining the user failed, there is no user.
    const denial = (req: Request) => (status === 'byUser' ? (known.has(req) ? 403 : 401) : status)
    return Object.assign(ask, { policy: `${scope}.${handler}`, denial, challenge })
  }

  #find(scope: string, handler: string): KeptCheck {
    const checks = this.#checks.get(scope)
    if (checks === undefined)
      throw UnknownPolicyError('there is no policy scope', String(scope), [...this.#checks.keys()])
    const check = checks.get(handler)
    if (check !== undefined) return check
    const names = [...checks.keys()]
    throw UnknownPolicyError(`the policy scope ${JSON.stringify(scope)} has no check`, String(handler), names)
  }
}

/** Why a route cannot use a check; `undefined` if it can. */
function whyUnfit(check: Function): string | undefined {
  if (isForResource(check)) return 'it was created by forResource()'
  const count = parametersOf(check)
  return count > 2 ? `it has ${count} parameters` : undefined
}

/** Strings, templates and comments: the brackets and commas in them are not syntax. */
const opaque = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|\/\*.*?\*\//gs

/**
 * How many parameters a function declares, including those that have a default, and counting a rest parameter as one.
 *
 * `length` stops before the first of these: for `(user = guest, post, comment) => …` it is 0. A function without a
 * source, such as a bound one, has only its `length`.
 */
function parametersOf(fn: Function): number {
  const source = Function.prototype.toString.call(fn).replace(opaque, (text) => (text.startsWith('/') ? ' ' : '0'))
  if (/^(?:async\s+)?[\p{ID_Start}$_][\p{ID_Continue}$]*\s*=>/u.test(source)) return 1
  return Math.max(fn.length, declaredIn(source))
}

/** Counts the parameters in the first parentheses that do not belong to a computed name. */
function declaredIn(source: string): number {
  let depth = 0
  let list: string | undefined
  for (const char of source) {
    if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char)) depth--
    if (list === undefined) list = char === '(' && depth === 1 ? '' : undefined
    else if (depth === 0) return list.split(',').filter((one) => one.trim() !== '').length
    else list += depth === 1 ? char : '_'
  }
  return 0
}

function entriesOf(name: string, value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw OptionError(name, value, name === 'policies' ? 'an object of scopes' : 'an object of named checks')
  }
  return Object.entries(value)
}

function logFault(logger: Logger, scope: string, handler: string, why: string, error: unknown): void {
  const policy = `${scope}.${handler}`
  logger.error(error === undefined ? { policy } : { policy, err: error }, `a policy check ${why}: access is denied`)
}

/** Called with the reason when a check counts as a refusal because it did not return `true` or `false`. */
type OnFault = (why: string, error?: unknown) => void

const expired = Symbol('expired')

/** Judges the result of a check. Only `true` allows: any truthy value would include `'false'`, an error object, or a promise that was not awaited. */
function judge(value: unknown, onFault: OnFault): boolean {
  if (value === true) return true
  if (value !== false) onFault(`returned ${value === null ? 'null' : `a ${typeof value}`}, not a boolean`)
  return false
}

/**
 * The decision of a check, synchronous if the check is. An error, a rejection, a value that is not a boolean and a value that
 * does not arrive within `timeout` milliseconds are refusals.
 */
function verdictOf(ask: () => unknown, timeout: number, onFault: OnFault): boolean | Promise<boolean> {
  let value: unknown
  try {
    value = ask()
    if (isPromise(value)) return verdictWithin(value, timeout, onFault)
  } catch (error) {
    onFault('threw', error)
    return false
  }
  return judge(value, onFault)
}

async function verdictWithin(pending: PromiseLike<unknown>, timeout: number, onFault: OnFault): Promise<boolean> {
  try {
    const value = await within(pending, timeout, () => expired)
    if (value !== expired) return judge(value, onFault)
    onFault(`did not settle within ${timeout} ms`)
  } catch (error) {
    onFault('rejected', error)
  }
  return false
}
