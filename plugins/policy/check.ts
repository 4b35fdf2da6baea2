import { OptionError, type Request } from '../../kernel/index.ts'
import type { AuthSubject } from '../auth/index.ts'
import { option } from '../shared/options/index.ts'

/** Decides whether a user may do something; anything but `true` is a refusal. */
// The type of a method, so that a check for a certain user type is accepted where checks for any user are.
export type PolicyCheck<User = unknown> = { run(user: User, ...args: unknown[]): boolean | Promise<boolean> }['run']

/** `req.user` as the checks of a manager receive it. */
export type Caller = [keyof AuthSubject] extends [never] ? unknown : AuthSubject | undefined

/** Checks by scope and name. */
export interface PolicyRecord {
  readonly [scope: string]: { readonly [handler: string]: PolicyCheck }
}

/** The same for inference alone: it types no parameter of a check. */
export type PolicyNames = { readonly [scope: string]: { readonly [handler: string]: Function } }

/** What inferred checks must be; by their names, so that a mistake is reported where it is. A resource may have users of its own. */
export type ChecksOf<Policies, User> = {
  readonly [Scope in keyof Policies]: {
    readonly [Name in keyof Policies[Scope]]: Policies[Scope][Name] extends ResourceMark
      ? unknown
      : Policies[Scope][Name] extends (user: infer Given, ...args: never[]) => unknown
        ? // As a method it may take a narrower type, but `(user: User) => !banned.has(user)` would let in a request without a caller.
          [unknown extends User ? Given : undefined] extends [Given]
          ? PolicyCheck<User>
          : (user: User) => boolean | Promise<boolean>
        : PolicyCheck<User>
  }
}

/** The status of a refused request: 401 says that another user may try, 403 that this one need not try again. */
export type DenialStatus = 401 | 403

/** The status of a refused request, or how it is determined. */
export type PolicyStatus = DenialStatus | 'byUser'

export const policyStatus = option.oneOf(401, 403, 'byUser')

/** Runs one check for one request. */
export interface Ask {
  (req: Request): boolean | Promise<boolean>
  /** The names of scope and check: `site.admin`. */
  readonly policy: string
  /** The status for a request that the check has refused. */
  denial(req: Request): DenialStatus
  /** The header `WWW-Authenticate` of a 401. */
  readonly challenge: string | undefined
}

/** Marks the check; `Symbol.for`, so that a check from another copy of the package is recognised. */
const brand = Symbol.for('framework.policy.resource')

/** A check that is marked as one about a resource. */
export interface ResourceMark {
  /** Exists for the type checker only. */
  readonly '~resource': true
}

/**
 * Marks a check about a resource: `canAccess` passes it a resource; a route has none, and refuses the check at boot.
 *
 * @example
 * interface User { id: string }
 * interface Post { author: string }
 *
 * const policies = new PolicyManager({
 *   posts: { edit: forResource((user: User | undefined, post: Post) => user?.id === post.author) },
 * })
 * await policies.canAccess('posts', 'edit', { id: 'ann' }, { author: 'ann' })
 */
export function forResource<This, Args extends unknown[], Result extends boolean | Promise<boolean>>(
  check: (this: This, ...args: Args) => Result,
): ((this: This, ...args: Args) => Result) & ResourceMark {
  if (typeof check !== 'function') throw OptionError('forResource', check, 'a function (user, resource) => boolean')
  // A new function, because the given one may be a check of a route elsewhere.
  const marked = function (this: This, ...args: Args): Result {
    return check.apply(this, args)
  }
  return Object.defineProperty(marked, brand, { value: true }) as typeof marked & ResourceMark
}

export function isForResource(check: Function): boolean {
  return (check as unknown as Record<symbol, unknown>)[brand] === true
}
