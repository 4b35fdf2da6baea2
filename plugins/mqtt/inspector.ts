import type { InspectorPanel } from '../shared/development/panels.ts'
import { declarations } from './subscriptions/declarations.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'MQTT subscriptions',
    columns: ['Filter', 'QoS', 'Connected'],
    rows: (services) =>
      Array.from(declarations.all, ({ filter: { text }, options: { qos = 0 } }) => [
        text,
        qos,
        services.get('mqtt').isConnected,
      ]),
  },
]
