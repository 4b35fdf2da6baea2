import type { InspectorPanel } from '../shared/development/panels.ts'
import { guardedRoutes } from './denial.ts'

export const panels: readonly InspectorPanel[] = [
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
]
