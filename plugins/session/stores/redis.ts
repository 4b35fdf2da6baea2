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
export function redisStore({ client, timeout, close }: OpenRedis<RedisClient>, prefix: string): TextStore {
  const keyOf = (id: string) => `${prefix}session:${id}`
  // Not `ping`, which a client of the application may lack. No session has this id.
  const breaker = new Breaker({ name: 'Redis', timeout, probe: () => client.get(keyOf('')) })
  const run = <Result>(call: () => Promise<Result>) => breaker.run(call)
  return {
    hasDeadline: true,
    get: (id) => run(() => client.get(keyOf(id))),
    set: async (id, text, ttl) => void (await run(() => client.setex(keyOf(id), ttl, text))),
    update: async (id, text, ttl) => (await run(() => client.set(keyOf(id), text, 'EX', ttl, 'XX'))) !== null,
    destroy: async (id) => (await run(() => client.del(keyOf(id)))) > 0,
    touch: async (id, ttl) => (await run(() => client.expire(keyOf(id), ttl))) > 0,
    close() {
      breaker.stop()
      close()
    },
  }
}
