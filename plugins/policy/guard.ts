import type { Middleware, Request } from '../../kernel/index.ts'
import type { PolicyDenials } from './denial.ts'
import type { Ask } from './manager.ts'

/** A middleware that continues if the check allows it; without a promise if the check needs none. */
export function guard(name: string, ask: Ask, denialsOf: (req: Request) => PolicyDenials): Middleware {
  const middleware: Middleware = (req, res, next) => {
    const verdict = ask(req)
    if (verdict === true) return next()
    if (verdict === false) return denialsOf(req).deny(req, res, ask)
    return verdict.then((passes) => (passes ? next() : denialsOf(req).deny(req, res, ask)))
  }
  return Object.defineProperty(middleware, 'name', { value: name })
}
