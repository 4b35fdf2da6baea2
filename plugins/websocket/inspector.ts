import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Open websockets',
    columns: ['Socket', 'Route', 'Address', 'Bytes that wait'],
    *rows(services) {
      for (const { id, route, ip, buffered } of services.get('websockets')) yield [id, route, ip, buffered]
    },
    actions: [
      {
        name: 'Close',
        confirm: 'Close this websocket?',
        run(services, id) {
          const socket = [...services.get('websockets')].find((one) => one.id === id)
          if (socket === undefined) throw new Error('this websocket is no longer open')
          socket.close(1000, 'closed in the inspector')
          return 'It is closing.'
        },
      },
    ],
  },
]
