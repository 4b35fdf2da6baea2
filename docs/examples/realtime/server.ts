import { Server } from 'framework'
import { routes } from './auctions.ts'

export interface AppOptions {
  /** The URL of a Redis server; without it, there may be only one instance. */
  readonly redis?: string
}

export function makeServer({ redis }: AppOptions = {}) {
  return new Server({
    port: 0,
    host: '127.0.0.1',
    router: routes,
    plugins: {
      websocket: { maxMessageSize: '4kb', messagesPerSecond: 10, maxSockets: 5000 },
      channels: redis === undefined ? true : { store: { redis } },
    },
  })
}
