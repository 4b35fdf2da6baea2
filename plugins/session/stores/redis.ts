import { Breaker } from '../../shared/stores/breaker.ts'
import type { OpenRedis } from '../../shared/stores/redis-client.ts'
import type { TextStore } from './contract.ts'

/**
 * Sessions in Redis, as JSON under `session:<id>`. While Redis does not respond, commands fail immediately: a request must not
 * wait for a timeout that another request has already suffered.
 */
export function redisStore({ client, timeout, close }: OpenRedis, prefix: string): TextStore {
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
