import type { Request } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'

/** Decides whether a user may do something; anything but `true` is a refusal. */
// The type of a method, so that a check for a certain user type is accepted where checks for any user are.
export type PolicyCheck = { run(user: unknown, ...args: unknown[]): boolean | Promise<boolean> }['run']

/** Checks by scope and name. */
export interface PolicyRecord {
  readonly [scope: string]: { readonly [handler: string]: PolicyCheck }
}

/** The status of a refused request: 401 says that another user may try, 403 that this one need not try again. */
export type DenialStatus = 401 | 403

/** The status of a refused request, or how it is determined. */
export type PolicyStatus = DenialStatus | 'byUser'

export const policyStatus = option.oneOf(401, 403, 'byUser')

/** Runs one check for one request. */
export interface Ask {
  (req: Request): boolean | Promise<boolean>
  /** The status for a request that the check has refused. */
  denial(req: Request): DenialStatus
  /** The header `WWW-Authenticate` of a 401. */
  readonly challenge: string | undefined
}
