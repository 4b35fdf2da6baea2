import { OptionError, type Request } from '../../kernel/index.ts'
import type { PolicyCheck } from './manager.ts'
import type { PolicyRequirement } from './options.ts'

/** A check that says what the request has once it has passed. */
export interface ProvingCheck<Extension extends object> {
  (user: unknown, req: Request): boolean | Promise<boolean>
  /** Exists for the type checker only. */
  readonly '~extension'?: Extension
}

/**
 * Says what a check proves of the request: handlers of the routes that ask it find it there, and need not ask again. A check that
 * is a type predicate of the user, `(user?: User) => user !== undefined`, proves `{ user: User }` by itself.
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

/** What one check proves. A predicate is about the user that it is asked about, which is `req.user` where no other is named. */
export type ProofOf<Check, IsAboutUser> = Check extends { readonly '~extension'?: infer Extension extends object }
  ? Extension
  : // biome-ignore lint/suspicious/noExplicitAny: a predicate for a certain user is none for `unknown`
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

/** What the `policy` of a route proves: all of a list must pass. */
export type ProofOfPolicy<Given> = Given extends readonly [infer First, ...infer Rest]
  ? ProofOfRequirement<First> & ProofOfPolicy<Rest>
  : Given extends PolicyRequirement
    ? ProofOfRequirement<Given>
    : {}
