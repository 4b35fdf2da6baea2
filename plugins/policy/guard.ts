import type { Middleware, Request } from '../../kernel/index.ts'
import { markGuard } from '../shared/http/guards.ts'
import type { PolicyDenials } from './denial.ts'
import type { PolicyRequirement } from './options.ts'

/** A route that asks policies. */
export interface GuardedRoute {
  readonly route: string
  readonly requirements: readonly PolicyRequirement[]
}

/** The guarded routes by the services of their server, for the inspector. */
export const guardedRoutes = new WeakMap<object, readonly GuardedRoute[]>()

/** A middleware that continues if the check allows it; without a promise if the check needs none. */
export function guard(requirement: PolicyRequirement, denialsOf: (req: Request) => PolicyDenials): Middleware {
  const { manager, scope, handler, status } = requirement
  const ask = manager.askOf(scope, handler, status)
  const middleware: Middleware = (req, res, next) => {
    const verdict = ask(req)
    if (verdict === true) return next()
    if (verdict === false) return denialsOf(req).deny(req, res, ask)
    return verdict.then((passes) => (passes ? next() : denialsOf(req).deny(req, res, ask)))
  }
  return Object.defineProperty(markGuard(middleware, requirement), 'name', { value: `policy(${scope}.${handler})` })
}
