import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Metrics',
    columns: ['Metric', 'Value'],
    async rows(services, limit) {
      const lines = (await services.get('metrics').text()).split('\n')
      // Leaves out buckets, which are for machines.
      const samples = lines.filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'))
      return samples.slice(0, limit).map((line) => {
        const at = line.lastIndexOf(' ')
        return { id: line.slice(0, at), cells: [line.slice(0, at), Number(line.slice(at + 1))] }
      })
    },
  },
]
