import type { InspectorPanel } from '../shared/development/panels.ts'
import { limitsOfScopes } from './limiter.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Rate limits',
    columns: ['For', 'Requests of a client', 'Within, s', 'Accepted', 'Refused', 'With'],
    rows: (services, limit) =>
      (limitsOfScopes.get(services)?.shown ?? []).slice(0, limit).map(({ name, rule, accepted, refused }) => ({
        id: name,
        cells: [name, rule.limit, rule.windowMs / 1_000, accepted, refused, rule.statusCode],
      })),
  },
]
