import type { PolicyRequirement } from './options.ts'

/** A route that asks policies. */
export interface GuardedRoute {
  readonly route: string
  readonly requirements: readonly PolicyRequirement[]
}

/** The guarded routes by the services of their server, for the inspector. */
export const guardedRoutes = new WeakMap<object, readonly GuardedRoute[]>()
