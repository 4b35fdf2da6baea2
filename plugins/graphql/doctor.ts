import { type DoctorCheck, productionWarning } from '../shared/doctor/check.ts'
import type { GraphqlSettings } from './options.ts'

export const checks: readonly DoctorCheck<GraphqlSettings>[] = [
  productionWarning('graphql.public-schema', ({ settings: { introspection, graphiql, route } }) => {
    const open = [...(graphiql ? ['graphiql'] : []), ...(introspection ? ['apolloOptions.introspection'] : [])]
    if (open.length === 0 || route.policy !== undefined || (route.middlewares ?? []).length > 0) return undefined
    return {
      problem: `everyone can read the whole GraphQL schema: ${open.join(' and ')} ${open.length === 1 ? 'is' : 'are'} on`,
      remedy: 'Leave the option out, which turns it off in production, or guard the route: graphql.route.policy',
    }
  }),
]
