import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Breaker, type BreakerOptions } from '../../shared/stores/breaker.ts'
import type { OpenRedis } from '../../shared/stores/redis-client.ts'
import { LruMap } from '../../shared/values/lru.ts'
import { decodeEntry, encodeEntry } from '../entry.ts'
import { isOwnKey, redisGlob } from '../glob.ts'
import type { CacheStore } from './contract.ts'

/** The scripts, each of which Redis runs without another command in between. They are sent whole, so they have no comments. */
const scripts = {
  // KEYS lock, entry, epoch, a version for each tag; ARGV token, milliseconds, the hash of an entry that is of no use. Returns the entry if
  // another process has stored one; otherwise the versions; or nothing while another process has the lock.
  begin: readFileSync(new URL('./redis/begin.lua', import.meta.url), 'utf8'),
  // KEYS lock, entry, epoch, n versions, n tags; ARGV token, milliseconds, bytes, n, the versions seen at the beginning.
  // Returns 1 when the entry was kept, 0 when the epoch or one of its tags was invalidated meanwhile.
  commit: readFileSync(new URL('./redis/commit.lua', import.meta.url), 'utf8'),
  // KEYS lock; ARGV token. Only the owner releases the lock: after a timeout, another process may have it.
  abandon: readFileSync(new URL('./redis/abandon.lua', import.meta.url), 'utf8'),
  // KEYS version, tag. Returns the number of entries removed. A version stays for two days: longer than any response can take to
  // compute.
  invalidate: readFileSync(new URL('./redis/invalidate.lua', import.meta.url), 'utf8'),
  // KEYS epoch, which stays as long.
  epoch: readFileSync(new URL('./redis/epoch.lua', import.meta.url), 'utf8'),
}

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
export function redisStore(
  { client, timeout, close }: OpenRedis,
  { prefix, lockTimeout, ...options }: RedisStoreOptions,
): CacheStore {
  const breaker = new Breaker({ ...options, timeout, name: 'the Redis of the cache', probe: () => client.ping() })
  // Without a listener, an error would end the process; every failed command reports its own reason.
  client.on('error', () => {})
  const named = (key: string) => prefix + key
  /** Keys that were there when they were last asked for, as far as this process has seen. */
  const known = new LruMap<true>({ max: 10_000 })
  const run = (script: string, keys: readonly string[], ...given: (string | number | Buffer)[]) =>
    breaker.run(() => client.callBuffer('EVAL', script, keys.length, ...keys, ...given))

  return {
    check: () => breaker.check(),

    async get(key) {
      const bytes = await breaker.run(() => client.getBuffer(named(key)))
      return bytes === null ? void known.delete(key) : decodeEntry(bytes)
    },

    mayHave: (key) => known.has(key),

    async begin(key, tags, isUsable = () => true) {
      const token = randomUUID()
      const lock = named(`cache-lock:${key}`)
      const keys = [lock, named(key), named('cache-epoch'), ...tags.map((tag) => named(`cache-version:${tag}`))]
      const abandon = () => run(scripts.abandon, [lock], token).catch(() => {})
      const ask = (useless: string) =>
        run(scripts.begin, keys, token, lockTimeout, useless) as Promise<Buffer | (Buffer | null)[] | null>
      let found: Awaited<ReturnType<typeof ask>>
      try {
        found = await ask('')
        while (Buffer.isBuffer(found)) {
          known.set(key, true)
          const entry = decodeEntry(found)
          if (entry !== undefined && isUsable(entry)) return { entry }
          // One that is unreadable or too old is computed again, and overwritten, unless it was replaced in this moment.
          found = await ask(createHash('sha1').update(found).digest('hex'))
        }
      } catch (error) {
        // A frozen Redis would execute the lock command when it continues, and no process would release that lock. Without a cause, it was not sent.
        if ((error as Error).cause !== undefined) breaker.whenUp(abandon)
        throw error
      }
      if (found === null) return undefined
      const seen = (found as (Buffer | null)[]).map((version) => version ?? '')
      return {
        fill: {
          async commit(entry, seconds) {
            const all = [...keys, ...tags.map((tag) => named(`cache-tag:${tag}`))]
            const ms = Math.ceil(seconds * 1000)
            known.set(key, true, ms)
            return run(scripts.commit, all, token, ms, encodeEntry(entry), tags.length, ...seen).then(
              (kept) => (kept === 1 ? 'stored' : 'stale'),
              () => 'failed',
            )
          },
          // The lock expires by itself when this command does not reach Redis.
          abandon: async () => void (await abandon()),
        },
      }
    },

    async invalidate(tags) {
      const keysOf = (tag: string) => [named(`cache-version:${tag}`), named(`cache-tag:${tag}`)]
      const removed = await Promise.all(tags.map((tag) => run(scripts.invalidate, keysOf(tag))))
      return removed.reduce<number>((sum, count) => sum + Number(count), 0)
    },

    async invalidatePattern(pattern) {
      const match = redisGlob(prefix, pattern)
      // This comes first: responses that are being computed at this moment use data that is now invalid.
      await run(scripts.epoch, [named('cache-epoch')])
      let removed = 0
      for (let cursor: string | undefined; cursor !== '0'; ) {
        const [next, found] = await breaker.run(() => client.scan(cursor ?? '0', 'MATCH', match, 'COUNT', 1000))
        const keys = found.filter((key) => isOwnKey(key.slice(prefix.length)))
        if (keys.length > 0) removed += await breaker.run(() => client.unlink(...keys))
        cursor = next
      }
      return removed
    },

    close() {
      breaker.stop()
      close()
    },
  }
}
