import type { InspectorPanel } from '../shared/development/panels.ts'
import { probes, reasonOf } from './checks.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Health',
    columns: ['Check', 'Outcome', 'Reason'],
    async rows(services) {
      const { status, results } = await probes.get(services)!()
      const rows = Object.entries(results).map(([name, result]) => [name, result.outcome, reasonOf(result)])
      return [['Ready', status], ...rows]
    },
  },
]
