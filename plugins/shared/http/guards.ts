import type { Middleware, RouteOptions } from '../../../kernel/index.ts'

/** Marks middlewares that check a policy; `Symbol.for`, because the command line may have another copy of this package. */
const guardMark = Symbol.for('framework.guard')

/** Notes the value of the route option `policy` that makes the same check as a middleware. */
export function markGuard<Guard extends Middleware>(middleware: Guard, policy: object): Guard {
  return Object.defineProperty(middleware, guardMark, { value: policy })
}

/** The checks among the middlewares of a route, each as the options of a route that asks for it. */
export function guardsOf(middlewares: readonly Middleware[]): RouteOptions[] {
  return middlewares.flatMap((one) => {
    const policy = (one as { readonly [guardMark]?: unknown })[guardMark]
    return policy === undefined ? [] : [{ policy } as RouteOptions]
  })
}
