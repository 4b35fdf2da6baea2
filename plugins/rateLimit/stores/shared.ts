import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { clock } from '../../../kernel/index.ts'
import { Breaker, type BreakerOptions } from '../../shared/stores/breaker.ts'
import { openRedis } from '../../shared/stores/redis-client.ts'
import type { RedisStoreSettings } from '../../shared/stores/redis-store.ts'
import type { Counter, Hit, RateLimitStore, StoreWindow, Taken } from './contract.ts'
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
    throw new TypeError('hit() of the store of the rate limits has to return { count, resetMs }, two numbers')
  }
  const askToTake = async (key: string, cost: number, windows: readonly StoreWindow[]): Promise<Taken> => {
    const taken = (await store.take!(key, cost, windows)) as Partial<Taken> | undefined
    const isState = (_: unknown, i: number) =>
      Number.isFinite(taken?.windows?.[i]?.count) && Number.isFinite(taken?.windows?.[i]?.resetMs)
    if (typeof taken?.accepted === 'boolean' && windows.every(isState)) return taken as Taken
    throw new TypeError(
      'take() of the store of the rate limits has to return { accepted, windows }, with { count, resetMs } each',
    )
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
    ...(store.take && {
      async take(key, cost, windows, onFailure) {
        const asked = clock.monotonic()
        try {
          const taken = await breaker.run(() => askToTake(key, cost, windows))
          return memory.learnTaken(key, windows, taken, asked)
        } catch {
          return onFailure === 'refuse' ? undefined : memory.take(key, cost, windows)
        }
      },
    }),
    check: () => breaker.check(),
    close() {
      breaker.stop()
      return store.close?.()
    },
  }
}

const hitScript = readFileSync(new URL('./redis/hit.lua', import.meta.url), 'utf8')
const takeScript = readFileSync(new URL('./redis/take.lua', import.meta.url), 'utf8')

/** A client with these scripts: it sends the hash of one, or the whole script if Redis does not know it. */
type Counting = Redis & {
  countHit(key: string, windowMs: number): Promise<[count: number, resetMs: number]>
  takeCost(key: string, cost: number, ...windows: (number | string)[]): Promise<[accepted: number, ...states: string[]]>
}

/** Counts in Redis, for all processes together. The store can be opened while Redis cannot be reached: its hits then fail immediately. */
export async function openRedisStore(
  settings: RedisStoreSettings,
): Promise<{ readonly store: RateLimitStore; readonly timeout: number | undefined }> {
  const { client: plain, timeout, close } = await openRedis(settings, 'the rateLimit plugin (store redis)')
  const client = plain as unknown as Counting
  client.defineCommand('countHit', { numberOfKeys: 1, lua: hitScript })
  client.defineCommand('takeCost', { numberOfKeys: 1, lua: takeScript })
  const hit = async (key: string, windowMs: number): Promise<Hit> => {
    const [count, resetMs] = await client.countHit(`${settings.prefix}:${key}`, windowMs)
    return { count, resetMs }
  }
  // One key for all windows, which a cluster keeps in one place.
  const take = async (key: string, cost: number, windows: readonly StoreWindow[]): Promise<Taken> => {
    const given = windows.flatMap(({ limit, windowMs, burst = '' }) => [limit, windowMs, burst])
    const [accepted, ...states] = await client.takeCost(`${settings.prefix}:windows:${key}`, cost, ...given)
    const numbers = states.map(Number)
    return {
      accepted: accepted === 1,
      windows: windows.map((_, i) => ({ count: numbers[2 * i]!, resetMs: numbers[2 * i + 1]! })),
    }
  }
  return { store: { hit, take, close }, timeout }
}
