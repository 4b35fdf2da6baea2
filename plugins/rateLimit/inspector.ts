import type { InspectorPanel } from '../shared/development/panels.ts'
import { limitsOfScopes } from './stores/contract.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Rate limits',
    columns: ['For', 'Requests of a client', 'Within, s', 'Accepted', 'Refused', 'With'],
    rows(services) {
      const all = limitsOfScopes.get(services)?.shown ?? []
      return all.map((one) => [one.name, one.limits, one.windows, one.accepted, one.refused, one.statusCode])
    },
  },
]
