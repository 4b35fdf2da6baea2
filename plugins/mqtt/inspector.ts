import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'MQTT subscriptions',
    columns: ['Filter', 'QoS', 'Connected'],
    rows(services) {
      const service = services.get('mqtt')
      return service
        .subscriptions()
        .map(({ filter: { text }, options: { qos = 0 } }) => [text, qos, service.isConnected])
    },
  },
]
