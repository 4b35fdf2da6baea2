import { definePlugin } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import type { AccessDemands, GuardedWay } from '../shared/development/access.ts'
import { option } from '../shared/options/index.ts'
import type { DenialStatus } from './check.ts'
import { type GuardedRoute, guard, guardedRoutes, PolicyDenials, work } from './denial.ts'
import { type PolicyRequirement, policyOfRoute } from './options.ts'

/**
 * Runs the checks of the route option `policy`, before the route's own middlewares and its validation.
 *
 * It is registered on every server.
 *
 * @example
 * const policies = new PolicyManager({ site: { admin: (user?: { id: string; admin?: boolean }) => user?.admin === true } })
 * server.get('/stats', { policy: { manager: policies, scope: 'site', handler: 'admin' } }, () => 'numbers')
 */
export const policy = definePlugin({
  name: 'policy',
  access: { guards },
  options: option.shape({}),
  routeOptions: { policy: policyOfRoute },
  openapi: { failures },
  work,
  inspector: () => [
    {
      title: 'Policies of routes',
      columns: ['Route', 'Policies', 'Response to a refused request'],
      rows: (services) =>
        (guardedRoutes.get(services) ?? []).map(({ route, requirements }) => [
          route,
          requirements.map(({ scope, handler }) => `${scope}.${handler}`).join(', '),
          requirements.map(({ status, manager }) => status ?? manager.status).join(', '),
        ]),
    },
  ],
  provide: () => ({ policy: new PolicyDenials() }),
  setup(ctx) {
    const denials = ctx.services.get('policy')
    const guarded: GuardedRoute[] = []
    guardedRoutes.set(ctx.services, guarded)
    ctx.onRoute((route) => {
      const requirements = route.settings.policy ?? []
      if (requirements.length > 0) guarded.push({ route: `${route.method} ${route.path}`, requirements })
      for (const requirement of requirements) {
        route.add(
          'guard',
          guard(requirement, () => denials),
        )
      }
    })
  },
})

/** The checks of a route, for `framework access`. */
function guards({ options }: GuardedWay): AccessDemands {
  const all = [options?.policy ?? []].flat() as readonly PolicyRequirement[]
  return { conditions: Object.fromEntries(all.map(({ scope, handler }) => [`policy ${scope}.${handler}`, []])) }
}

/** The refusals, for the API description. */
function failures({ options }: DescribedRoute): { readonly [status: string]: string } {
  const statuses = [options.policy ?? []].flat().map((one: PolicyRequirement) => one.status ?? one.manager.status)
  const has = (status: DenialStatus) => statuses.some((one) => one === status || one === 'byUser')
  return { ...(has(401) && { 401: 'Unauthorized' }), ...(has(403) && { 403: 'Forbidden' }) }
}
