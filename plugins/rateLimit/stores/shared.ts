import { readFileSync } from 'node:fs'
import { clock } from '../../../kernel/index.ts'
import { Breaker, type BreakerOptions } from '../../shared/stores/breaker.ts'
import { openRedis, type RedisStoreSettings } from '../../shared/stores/redis-store.ts'
import type { Counter, Hit, RateLimitStore } from './contract.ts'
import type { MemoryStore } from './memory.ts'

/** A key that no client has: those have a space. */
const probeKey = 'health'

/**
 * A store that may fail, with a store in memory as its substitute: while it fails, this process counts by itself, from the last known counts.
 *
 * Refusing all clients would turn the counter's failure into a failure of the whole service; allowing all would invite
 * attackers who can make the counter fail.
 */
export function sharedCounter(
  store: RateLimitStore,
  memory: MemoryStore,
  options: Pick<BreakerOptions, 'timeout' | 'onChange'>,
): Counter {
  /** Checks the count: compared with a limit, anything that is not a number would refuse every client. */
  const ask = async (key: string, windowMs: number): Promise<Hit> => {
    const hit = (await store.hit(key, windowMs)) as Partial<Hit> | undefined
    if (Number.isFinite(hit?.count) && Number.isFinite(hit?.resetMs)) return hit as Hit
    throw new TypeError('hit() of the store of the rate limits has to give { count, resetMs }, two numbers')
  }
  const probe = () => ask(probeKey, 1_000)
  const breaker = new Breaker({ ...options, name: 'the store of the rate limits', probe })
  return {
    async hit(key, windowMs, onFailure) {
      const asked = clock.monotonic()
      try {
        return memory.learn(key, await breaker.run(() => ask(key, windowMs)), asked)
      } catch {
        return onFailure === 'refuse' ? undefined : memory.hit(key, windowMs)
      }
    },
    takeBack(key) {
      // Not taken back, it counts on: a limit that is too strict.
      if (store.takeBack !== undefined) breaker.run(async () => store.takeBack!(key)).catch(() => {})
    },
    check: () => breaker.check(),
    close() {
      breaker.stop()
      return store.close?.()
    },
  }
}

const lua = readFileSync(new URL('./redis/hit.lua', import.meta.url), 'utf8')
const takeBackLua = readFileSync(new URL('./redis/take-back.lua', import.meta.url), 'utf8')

/** The part of the client that is used: it sends the hash of the script, or the whole script if Redis does not know it. */
interface Counting {
  defineCommand(name: string, script: { readonly numberOfKeys: number; readonly lua: string }): void
  countHit(key: string, windowMs: number): Promise<[count: number, resetMs: number]>
  takeHitBack(key: string): Promise<unknown>
}

/** Counts in Redis, for all processes together. The store can be opened while Redis cannot be reached: its hits then fail immediately. */
export async function openRedisStore(
  settings: RedisStoreSettings,
): Promise<{ readonly store: RateLimitStore; readonly timeout: number | undefined }> {
  const { client, timeout, close } = await openRedis<Counting>(settings, 'the rateLimit plugin (store redis)')
  client.defineCommand('countHit', { numberOfKeys: 1, lua })
  client.defineCommand('takeHitBack', { numberOfKeys: 1, lua: takeBackLua })
  const hit = async (key: string, windowMs: number): Promise<Hit> => {
    const [count, resetMs] = await client.countHit(`${settings.prefix}:${key}`, windowMs)
    return { count, resetMs }
  }
  const takeBack = async (key: string) => void (await client.takeHitBack(`${settings.prefix}:${key}`))
  return { store: { hit, takeBack, close }, timeout }
}
