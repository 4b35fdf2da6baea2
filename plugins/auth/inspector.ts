import type { InspectorPanel } from '../shared/development/panels.ts'
import { rulesOfScopes } from './options.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Authentication of routes',
    columns: ['Route', 'Credential', 'Schemes', 'Scopes'],
    rows: (services) =>
      (rulesOfScopes.get(services) ?? []).map(({ route, rule: { mode, schemes, scopes } }) => [
        route,
        mode === false ? 'not read' : mode,
        mode === false ? '' : schemes.map(([name]) => name).join(', '),
        scopes.join(' '),
      ]),
  },
]
