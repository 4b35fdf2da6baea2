import { readFileSync } from 'node:fs'
import { openRedis } from '../../shared/stores/redis-client.ts'
import type { RedisStoreSettings } from '../../shared/stores/redis-store.ts'
import type { IdempotencyStore } from './contract.ts'

const script = readFileSync(new URL('./redis/swap.lua', import.meta.url), 'utf8')

/** Keeps values in Redis. The store also opens while Redis cannot be reached. */
export async function openRedisStore(settings: RedisStoreSettings): Promise<IdempotencyStore> {
  const { client, close } = await openRedis(settings, 'the idempotency plugin (store redis)')
  return {
    async swap(key, expected = '', value = '', ttl) {
      const found = await client.eval(script, 1, `${settings.prefix}:${key}`, expected, value, Math.ceil(ttl))
      return (found as string | null) ?? undefined
    },
    close,
  }
}
