import { readFileSync } from 'node:fs'
import { openRedis, type RedisStoreSettings } from '../../shared/stores/redis-store.ts'
import type { Hit, RateLimitStore } from './contract.ts'

const lua = readFileSync(new URL('./redis/hit.lua', import.meta.url), 'utf8')

/** The part of the client that is used: it sends the hash of the script, or the whole script if Redis does not know it. */
interface Counting {
  defineCommand(name: string, script: { readonly numberOfKeys: number; readonly lua: string }): void
  countHit(key: string, windowMs: number): Promise<[count: number, resetMs: number]>
}

/** Counts in Redis, for all processes together. The store can be opened while Redis cannot be reached: its hits then fail immediately. */
export async function openRedisStore(
  settings: RedisStoreSettings,
): Promise<{ readonly store: RateLimitStore; readonly timeout: number | undefined }> {
  const { client, timeout, close } = await openRedis<Counting>(settings, 'the rateLimit plugin (store redis)')
  client.defineCommand('countHit', { numberOfKeys: 1, lua })
  const hit = async (key: string, windowMs: number): Promise<Hit> => {
    const [count, resetMs] = await client.countHit(`${settings.prefix}:${key}`, windowMs)
    return { count, resetMs }
  }
  return { store: { hit, close }, timeout }
}
