import { type Logger, peer } from '../../kernel/index.ts'
import type { SessionStore } from './store.ts'

/** What the store asks of a client; those of `ioredis`, its cluster too, have it. Written out, so that no type needs that package. */
export interface RedisClient {
  get(key: string): Promise<string | null>
  setex(key: string, seconds: number, value: string): Promise<unknown>
  del(key: string): Promise<unknown>
  expire(key: string, seconds: number): Promise<unknown>
}

/** An address, and everything else that `new Redis()` of `ioredis` takes: `host`, `password`, `keyPrefix`, `tls` … */
export interface SessionRedisOptions {
  /** Default `REDIS_URL`, else `redis://127.0.0.1:6379`; not looked at beside `host` or `path`. */
  readonly url?: string
  readonly [option: string]: unknown
}

const keyOf = (id: string) => `session:${id}`

/** Sessions in Redis, as JSON under `session:<id>`. */
export class RedisStore implements SessionStore {
  readonly #client: RedisClient

  constructor(client: RedisClient) {
    this.#client = client
  }

  async get(id: string): Promise<object | undefined> {
    const text = await this.#client.get(keyOf(id))
    return text === null ? undefined : (JSON.parse(text) as object)
  }

  async set(id: string, data: object, ttlSeconds: number): Promise<void> {
    await this.#client.setex(keyOf(id), ttlSeconds, JSON.stringify(data))
  }

  async destroy(id: string): Promise<void> {
    await this.#client.del(keyOf(id))
  }

  async touch(id: string, ttlSeconds: number): Promise<void> {
    await this.#client.expire(keyOf(id), ttlSeconds)
  }
}

/** A connection that the plugin owns, and how it is ended. */
export interface OwnedConnection {
  readonly client: RedisClient
  close(): void
}

/** Connects; resolves also when Redis cannot be reached, which is then tried again until it can. */
export async function connectRedis({ url, ...given }: SessionRedisOptions, log: Logger): Promise<OwnedConnection> {
  const { Redis } = await peer('ioredis', () => import('ioredis'), 'the session plugin (store redis)')
  const options = {
    connectTimeout: deadline,
    commandTimeout: deadline,
    // Fail at once while there is no connection: a command that waits in a queue would write an old session later.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times: number) => Math.min(100 * 2 ** times, 2_000),
    ...given,
    lazyConnect: true,
  }
  const isPlaced = given.host !== undefined || given.path !== undefined
  const client = isPlaced
    ? new Redis(options)
    : new Redis(url ?? (process.env.REDIS_URL || 'redis://127.0.0.1:6379'), options)
  let isDown = false
  // Without a listener ioredis writes each failed attempt to the console.
  client.on('error', (error: Error) => {
    if (!isDown) log.warn({ err: error }, 'the Redis of the session store cannot be reached; trying again')
    isDown = true
  })
  client.on('ready', () => {
    isDown = false
  })
  await settled(client.connect())
  return { client, close: () => client.disconnect() }
}

const deadline = 2_000

/** Waits for a first connection, but not for a Redis that takes connections and says nothing. */
function settled(connecting: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, deadline)
    const settle = () => {
      clearTimeout(timer)
      resolve()
    }
    // The error event has told.
    connecting.then(settle, settle)
  })
}
