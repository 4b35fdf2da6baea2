import { clock } from '../../../kernel/index.ts'
import type { IdempotencyStore } from './contract.ts'

/** Characters of all keys and values together: about 64 MB. */
const maxSize = 32_000_000
/** What an entry takes apart from its strings. */
const overhead = 100

/** Keeps values in this process. A full store refuses new keys: dropping an old one would let its request run again. */
export function memoryStore(): IdempotencyStore {
  const entries = new Map<string, { readonly value: string; readonly until: number }>()
  let size = 0
  let sweepAt = 0
  const drop = (key: string) => {
    const there = entries.get(key)
    if (there !== undefined) size -= key.length + there.value.length + overhead
    entries.delete(key)
  }
  const sweep = (now: number) => {
    if (now < sweepAt) return
    sweepAt = now + 1_000
    for (const [key, { until }] of entries) if (until <= now) drop(key)
  }
  return {
    swap(key, expected, value, ttl) {
      const now = clock.monotonic()
      const there = entries.get(key)
      const found = there !== undefined && there.until > now ? there.value : undefined
      if (found !== expected) return found
      if (value !== undefined && expected === undefined && size > maxSize) {
        sweep(now)
        if (size > maxSize) throw new Error('the keys in memory have reached 64 MB; set idempotency.store')
      }
      drop(key)
      if (value === undefined) return found
      entries.set(key, { value, until: now + ttl })
      size += key.length + value.length + overhead
      return found
    },
  }
}
