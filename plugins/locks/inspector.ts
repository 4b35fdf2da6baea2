import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Locks of this process',
    columns: ['Key', 'Held since', 'Fence', 'Waiting here'],
    rows(services) {
      const { held, waiting } = services.get('locks')
      const rows = held.map(({ key, since, fence }) => [key, since, fence, waiting.get(key) ?? 0])
      const elsewhere = [...waiting].filter(([key]) => !held.some((one) => one.key === key))
      return [...rows, ...elsewhere.map(([key, count]) => [key, undefined, undefined, count])]
    },
  },
]
