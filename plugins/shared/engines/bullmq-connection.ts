import { shownAddress } from '../stores/address.ts'
import { type RedisAddress, redisPlace, watchConnection } from '../stores/redis.ts'
import type { RedisClient, RedisConstructor } from './bullmq-types.ts'
import type { DriverHost } from './contract.ts'

export const retryStrategy = (times: number) => Math.min(50 * 2 ** times, 1000)

/** The address of Redis as messages show it: without the password. */
export function redisAddress(connection: RedisAddress): string {
  const { place, options } = redisPlace(connection)
  const [url] = place
  if (url !== undefined) return shownAddress(url)
  const { host = '127.0.0.1', port = 6379, path } = options as { host?: string; port?: number; path?: string }
  return path ?? `redis://${host}:${port}`
}

/** Connections to one Redis. */
export interface RedisConnections {
  /** The open ones, including those that BullMQ has derived for its workers. */
  readonly clients: Set<RedisClient>
  connect(options: object): RedisClient
}

export function connectionsOf(Redis: RedisConstructor, connection: RedisAddress, host: DriverHost): RedisConnections {
  const { place, options: given } = redisPlace(connection)
  const clients = new Set<RedisClient>()
  const watch = (client: RedisClient): RedisClient => {
    clients.add(client)
    client.on('end', () => clients.delete(client))
    watchConnection(client, (error) => (error === undefined ? host.up() : host.down(error)))
    const duplicate = client.duplicate.bind(client)
    return Object.assign(client, { duplicate: (override?: object) => watch(duplicate(override)) })
  }
  const connect = (options: object) => watch(new Redis(...place, { ...given, ...options }))
  return { clients, connect }
}
