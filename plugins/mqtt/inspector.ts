import type { InspectorPanel } from '../shared/development/panels.ts'
import { declarations } from './subscriptions/declarations.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'MQTT subscriptions',
    columns: ['Filter', 'QoS', 'Connected'],
    rows(services, limit) {
      const { isConnected } = services.get('mqtt')
      return [...declarations.all]
        .slice(0, limit)
        .map(({ filter: { text }, options: { qos = 0 } }, i) => ({ id: String(i), cells: [text, qos, isConnected] }))
    },
  },
]
