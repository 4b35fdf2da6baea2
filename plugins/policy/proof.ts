import { OptionError, type Request } from '../../kernel/index.ts'
import type { PolicyCheck } from './check.ts'
import type { PolicyRequirement } from './options.ts'

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
