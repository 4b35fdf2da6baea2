import type { InspectorPanel } from '../shared/development/panels.ts'
import { probes } from './checks.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Health',
    columns: ['Check', 'Outcome'],
    async rows(services, limit) {
      const { status, checks } = await probes.get(services)!()
      const rows = [['Ready', status], ...Object.entries(checks)]
      return rows.slice(0, limit).map((cells, i) => ({ id: String(i), cells }))
    },
  },
]
