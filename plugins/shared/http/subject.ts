import type { Request } from '../../../kernel/index.ts'
import { madeIn } from '../values/memoize.ts'

const admissions = new WeakMap<object, ((req: Request) => boolean)[]>()

/**
 * What lets requests in without a caller, because their address is their credential; by the services of a scope. Who adds one must respond to
 * each request that it lets in, in a middleware of that scope.
 */
export const admissionsOf = (services: object): ((req: Request) => boolean)[] => madeIn(admissions, services, () => [])

/** The caller of a request, as the plugin `auth` has found it; `undefined` before that, and without one. */
export const subjectOf = (req: object): object | undefined => (req as { readonly user?: object }).user

/**
 * What identifies a caller, from its `id`, otherwise its `sub`: a string or a number; `undefined` without. The number `7` and the string `'7'`
 * are two callers: the one must not use up or end what belongs to the other.
 */
export function identityOf(subject: object | undefined): string | undefined {
  const { id, sub } = (subject ?? {}) as { readonly id?: unknown; readonly sub?: unknown }
  const given = id ?? sub
  if (typeof given === 'bigint') return `${given}n`
  return typeof given === 'string' || Number.isFinite(given) ? JSON.stringify(given) : undefined
}
