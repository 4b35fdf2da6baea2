import type { InspectorPanel } from '../shared/development/panels.ts'
import { limitsOfScopes } from './stores/contract.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Rate limits',
    columns: ['For', 'Requests of a client', 'Within, s', 'Accepted', 'Refused', 'With'],
    rows: (services) =>
      (limitsOfScopes.get(services)?.shown ?? []).map(({ name, limits, windows, accepted, refused, statusCode }) => [
        name,
        limits,
        windows,
        accepted,
        refused,
        statusCode,
      ]),
  },
]
