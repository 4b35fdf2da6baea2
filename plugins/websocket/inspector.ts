import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Open websockets',
    columns: ['Socket', 'Route', 'Address', 'Bytes that wait'],
    rows: (services, limit) =>
      [...services.get('websockets')]
        .slice(0, limit)
        .map((socket) => ({ id: socket.id, cells: [socket.id, socket.route, socket.ip, socket.buffered] })),
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
