import type { InspectorPanel } from '../shared/development/panels.ts'
import { probes } from './checks.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Health',
    columns: ['Check', 'Outcome'],
    async rows(services) {
      const { status, checks } = await probes.get(services)!()
      return [['Ready', status], ...Object.entries(checks)]
    },
  },
]
