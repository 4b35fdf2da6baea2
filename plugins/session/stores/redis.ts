import type { Logger } from '../../../kernel/index.ts'
import { Availability } from '../../shared/stores/availability.ts'
import { Breaker } from '../../shared/stores/breaker.ts'
import { connectRedis, type RedisAddress } from '../../shared/stores/redis.ts'
import { deadline, type TextStore } from './contract.ts'

/** The methods used of a client, which `ioredis` and its cluster have. Listed here so that no type needs that package. */
export interface RedisClient {
  /** Reads a key; `null` for a missing one. */
  get(key: string): Promise<string | null>
  /** Sets a key for this many seconds. */
  setex(key: string, seconds: number, value: string): Promise<unknown>
  /** Sets an existing key for this many seconds; `null` if it does not exist. */
  set(key: string, value: string, unit: 'EX', seconds: number, only: 'XX'): Promise<string | null>
  /** Removes a key; resolves with the number of keys removed. */
  del(key: string): Promise<number>
  /** Restarts the seconds of a key; 0 for a missing one. */
  expire(key: string, seconds: number): Promise<number>
}

const keyOf = (id: string) => `session:${id}`

/**
 * Sessions in Redis, as JSON under `session:<id>`. While Redis does not answer, commands fail immediately: a request must not
 * wait for a timeout that another request has already suffered.
 */
export class RedisStore implements TextStore {
  readonly #client: RedisClient
  readonly #breaker: Breaker

  constructor(client: RedisClient) {
    this.#client = client
    // Not `ping`, which a client of the application may lack. No session has this id.
    const probe = () => client.get(keyOf(''))
    this.#breaker = new Breaker({ name: 'Redis', timeout: deadline, probe })
  }

  get(id: string): Promise<string | null> {
    return this.#breaker.run(() => this.#client.get(keyOf(id)))
  }

  async set(id: string, text: string, ttlSeconds: number): Promise<void> {
    await this.#breaker.run(() => this.#client.setex(keyOf(id), ttlSeconds, text))
  }

  async update(id: string, text: string, ttlSeconds: number): Promise<boolean> {
    return (await this.#breaker.run(() => this.#client.set(keyOf(id), text, 'EX', ttlSeconds, 'XX'))) !== null
  }

  async destroy(id: string): Promise<boolean> {
    return (await this.#breaker.run(() => this.#client.del(keyOf(id)))) > 0
  }

  async touch(id: string, ttlSeconds: number): Promise<boolean> {
    return (await this.#breaker.run(() => this.#client.expire(keyOf(id), ttlSeconds))) > 0
  }

  /** Stops the commands that it sends by itself. */
  stop(): void {
    this.#breaker.stop()
  }
}

/** A connection that the plugin owns, and the function that ends it. */
export interface OwnedConnection {
  readonly client: RedisClient
  close(): void
}

/** Connects; also resolves if Redis cannot be reached, and then retries until it can. */
export async function openConnection(address: RedisAddress, log: Logger): Promise<OwnedConnection> {
  const availability = new Availability((isDown, error) => {
    if (isDown) log.warn({ err: error }, 'the Redis of the session store cannot be reached; trying again')
  })
  const client = await connectRedis<RedisClient>(address, {
    feature: 'the session plugin (store redis)',
    commandTimeout: deadline,
    onState(error) {
      if (error === undefined) availability.works()
      else availability.fails(error)
    },
  })
  return { client, close: () => client.disconnect() }
}
