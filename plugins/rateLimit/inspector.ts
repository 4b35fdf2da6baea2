import type { InspectorPanel } from '../shared/development/panels.ts'
import { limitsOfScopes } from './stores/contract.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Rate limits',
    columns: ['For', 'Requests of a client', 'Within, s', 'Accepted', 'Refused', 'With'],
    rows: (services) =>
      (limitsOfScopes.get(services)?.shown ?? []).map(
        ({ name, rule: { limit, windowMs, statusCode }, accepted, refused }) => [
          name,
          limit,
          windowMs / 1_000,
          accepted,
          refused,
          statusCode,
        ],
      ),
  },
]
