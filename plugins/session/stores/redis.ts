import { Breaker } from '../../shared/stores/breaker.ts'
import type { OpenRedis } from '../../shared/stores/redis-store.ts'
import type { TextStore } from './contract.ts'

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

/**
 * Sessions in Redis, as JSON under `session:<id>`. While Redis does not respond, commands fail immediately: a request must not
 * wait for a timeout that another request has already suffered.
 */
export class RedisStore implements TextStore {
  readonly #client: RedisClient
  readonly #breaker: Breaker
  readonly #prefix: string
  readonly #disconnect: () => void

  constructor({ client, timeout, close }: OpenRedis<RedisClient>, prefix: string) {
    this.#client = client
    this.#prefix = prefix
    this.#disconnect = close
    // Not `ping`, which a client of the application may lack. No session has this id.
    const probe = () => client.get(this.#keyOf(''))
    this.#breaker = new Breaker({ name: 'Redis', timeout, probe })
  }

  #keyOf(id: string): string {
    return `${this.#prefix}session:${id}`
  }

  get(id: string): Promise<string | null> {
    return this.#breaker.run(() => this.#client.get(this.#keyOf(id)))
  }

  async set(id: string, text: string, ttlSeconds: number): Promise<void> {
    await this.#breaker.run(() => this.#client.setex(this.#keyOf(id), ttlSeconds, text))
  }

  async update(id: string, text: string, ttlSeconds: number): Promise<boolean> {
    return (await this.#breaker.run(() => this.#client.set(this.#keyOf(id), text, 'EX', ttlSeconds, 'XX'))) !== null
  }

  async destroy(id: string): Promise<boolean> {
    return (await this.#breaker.run(() => this.#client.del(this.#keyOf(id)))) > 0
  }

  async touch(id: string, ttlSeconds: number): Promise<boolean> {
    return (await this.#breaker.run(() => this.#client.expire(this.#keyOf(id), ttlSeconds))) > 0
  }

  close(): void {
    this.#breaker.stop()
    this.#disconnect()
  }
}
