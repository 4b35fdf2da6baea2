import type { Redis } from 'ioredis'
import { type RedisAddress, redisPlace } from '../stores/redis.ts'
import { watchConnection } from '../stores/redis-client.ts'
import type { DriverHost } from './contract.ts'

/** Connections to one Redis. */
export interface RedisConnections {
  connect(options: object): Redis
  /** Ends all, including those that BullMQ has derived for its workers, and those that it connects again from now on. */
  close(): void
}

export function connectionsOf(Client: typeof Redis, connection: RedisAddress, host: DriverHost): RedisConnections {
  const { place, options: given } = redisPlace(connection)
  const clients = new Set<Redis>()
  let isClosed = false
  const watch = (client: Redis): Redis => {
    clients.add(client)
    client.on('end', () => clients.delete(client))
    // BullMQ connects the client of a paused worker again, to close it, and forgets it when that is over.
    client.on('connecting', () => {
      // Only then does it have its new socket: for the old one, ioredis would set a timer of two seconds.
      if (isClosed) setImmediate(() => client.disconnect())
      else clients.add(client)
    })
    watchConnection(client, (error) => (error === undefined ? host.up() : host.down(error)))
    const duplicate = client.duplicate.bind(client)
    return Object.assign(client, { duplicate: (override?: object) => watch(duplicate(override)) })
  }
  const connect = (options: object) => watch(new Client(...(place as [url: string]), { ...given, ...options }))
  const close = () => {
    isClosed = true
    for (const client of clients) client.disconnect()
  }
  return { connect, close }
}
