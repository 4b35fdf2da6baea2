import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Metrics',
    columns: ['Metric', 'Value'],
    charts: true,
    async rows(services) {
      const lines = (await services.get('metrics').text()).split('\n')
      // Leaves out buckets, which are for machines.
      const samples = lines.filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'))
      return samples.map((line) => {
        const at = line.lastIndexOf(' ')
        return [line.slice(0, at), Number(line.slice(at + 1))]
      })
    },
  },
]
