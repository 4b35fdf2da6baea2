import { randomUUID } from 'node:crypto'
import { Breaker, type BreakerOptions } from '../../shared/stores/breaker.ts'
import type { OpenRedis } from '../../shared/stores/redis-store.ts'
import { decodeEntry, type Entry, encodeEntry } from '../entry.ts'
import { redisGlob } from '../glob.ts'
import type { Begun, CacheStore, Committed, Fill } from './contract.ts'
import type { RedisClient } from './redis-client.ts'
import { abandonScript, beginScript, commitScript, epochScript, invalidateScript } from './redis-scripts.ts'

/** The settings of the store, apart from its client. */
export interface RedisStoreOptions extends Pick<BreakerOptions, 'onChange'> {
  readonly prefix: string
  /** Milliseconds for which a process that dies prevents others from computing the same response. */
  readonly lockTimeout: number
}

/**
 * Keeps responses in Redis, for all processes of an application. Needs a single server or a replica set, not a cluster, because an
 * response and its tags are changed together.
 */
export class RedisStore implements CacheStore {
  readonly #client: RedisClient
  readonly #disconnect: () => void
  readonly #options: RedisStoreOptions
  readonly #breaker: Breaker

  constructor({ client, timeout, close }: OpenRedis<RedisClient>, options: RedisStoreOptions) {
    this.#client = client
    this.#disconnect = close
    this.#options = options
    const probe = () => client.ping()
    this.#breaker = new Breaker({ ...options, timeout, name: 'the Redis of the cache', probe })
    // Without a listener, an error would end the process; every failed command reports its own reason.
    client.on('error', () => {})
  }

  check(): Promise<void> {
    return this.#breaker.check()
  }

  async get(key: string): Promise<Entry | undefined> {
    const bytes = await this.#breaker.run(() => this.#client.getBuffer(this.#name(key)))
    return bytes === null ? undefined : decodeEntry(bytes)
  }

  async begin(key: string, tags: readonly string[]): Promise<Begun | undefined> {
    const token = randomUUID()
    const lock = this.#name(`cache-lock:${key}`)
    const versionKeys = [this.#name('cache-epoch'), ...tags.map((tag) => this.#name(`cache-version:${tag}`))]
    const abandon = () => this.#breaker.run(() => this.#client.eval(abandonScript, 1, lock, token)).catch(() => {})
    const keys = [lock, this.#name(key), ...versionKeys]
    const ask = (looks: 0 | 1) =>
      this.#breaker.run(() =>
        this.#client.callBuffer('EVAL', beginScript, keys.length, ...keys, token, this.#options.lockTimeout, looks),
      ) as Promise<Buffer | (Buffer | null)[] | null>
    let found: Awaited<ReturnType<typeof ask>>
    try {
      found = await ask(1)
      if (Buffer.isBuffer(found)) {
        const entry = decodeEntry(found)
        if (entry !== undefined) return { entry }
        // An unreadable entry is computed again, and overwritten.
        found = await ask(0)
      }
    } catch (error) {
      // A frozen Redis would execute the lock command when it continues, and no process would release that lock.
      this.#breaker.whenUp(abandon)
      throw error
    }
    if (found === null) return undefined
    const seen = (found as (Buffer | null)[]).map((version) => version ?? '')
    const tagKeys = tags.map((tag) => this.#name(`cache-tag:${tag}`))
    const fill: Fill = {
      commit: async (entry, seconds): Promise<Committed> => {
        const keys = [lock, this.#name(key), ...versionKeys, ...tagKeys]
        const milliseconds = Math.ceil(seconds * 1000)
        try {
          const kept = await this.#breaker.run(() =>
            this.#client.eval(
              commitScript,
              keys.length,
              ...keys,
              token,
              milliseconds,
              encodeEntry(entry),
              tags.length,
              ...seen,
            ),
          )
          return kept === 1 ? 'stored' : 'stale'
        } catch {
          return 'failed'
        }
      },
      // The lock expires by itself when this command does not reach Redis.
      abandon: async () => void (await abandon()),
    }
    return { fill }
  }

  async invalidate(tags: readonly string[]): Promise<number> {
    const removed = await Promise.all(
      tags.map((tag) =>
        this.#breaker.run(() =>
          this.#client.eval(invalidateScript, 2, this.#name(`cache-version:${tag}`), this.#name(`cache-tag:${tag}`)),
        ),
      ),
    )
    return removed.reduce<number>((sum, count) => sum + Number(count), 0)
  }

  async invalidatePattern(pattern: string): Promise<number> {
    const match = redisGlob(this.#options.prefix, pattern)
    // This comes first: responses that are being computed at this moment use data that is now invalid.
    await this.#breaker.run(() => this.#client.eval(epochScript, 1, this.#name('cache-epoch')))
    let cursor = '0'
    let removed = 0
    do {
      const [next, keys] = await this.#breaker.run(() => this.#client.scan(cursor, 'MATCH', match, 'COUNT', 1000))
      if (keys.length > 0) removed += await this.#breaker.run(() => this.#client.unlink(...keys))
      cursor = next
    } while (cursor !== '0')
    return removed
  }

  close(): void {
    this.#breaker.stop()
    this.#disconnect()
  }

  #name(key: string): string {
    return this.#options.prefix + key
  }
}
