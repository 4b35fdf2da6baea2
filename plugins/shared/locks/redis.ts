import { readFileSync } from 'node:fs'
import { aheadMs, type LockStore, rememberMs, type TickClaimed } from './contract.ts'

const script = {
  acquire: readFileSync(new URL('./redis/acquire.lua', import.meta.url), 'utf8'),
  claim: readFileSync(new URL('./redis/claim.lua', import.meta.url), 'utf8'),
  renew: readFileSync(new URL('./redis/renew.lua', import.meta.url), 'utf8'),
  release: readFileSync(new URL('./redis/release.lua', import.meta.url), 'utf8'),
}

/** The part of an ioredis client that is used here. */
export interface RedisScripts {
  /** Runs a Lua script with `keys` keys followed by arguments, and resolves with its result. */
  eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
}

/** Locks in Redis. The client also works while Redis cannot be reached. */
export function redisLocks(redis: RedisScripts, prefix: string, close: () => void): LockStore {
  // The braces put all keys of a lock into the same slot of a cluster.
  const keys = (key: string, ...what: ('run' | 'tick' | 'fence' | 'next')[]) =>
    what.map((one) => `${prefix}:{${key}}:${one}`)
  const run = (text: string, on: readonly string[], ...values: (string | number)[]) =>
    redis.eval(text, on.length, ...on, ...values)
  return {
    async acquire({ key, owner, ttl }, reserve) {
      const fence = await run(script.acquire, keys(key, 'run', 'fence', 'next'), owner, ttl, reserve)
      return (fence ?? undefined) as number | undefined
    },
    async claim({ key, tick, owner, ttl, exclusive }) {
      const values = [tick ?? '', owner, ttl, String(exclusive), aheadMs, rememberMs]
      return (await run(script.claim, keys(key, 'tick', 'run'), ...values)) as TickClaimed
    },
    // Redis forgets who held a claim that has expired. With a fence, another one may have held it and have gone.
    async renew({ key, owner, ttl, fence }) {
      return (await run(script.renew, keys(key, 'run'), owner, ttl, fence === undefined ? 1 : 0)) === 1
    },
    async release({ key, owner }) {
      await run(script.release, keys(key, 'run'), owner)
    },
    async leave({ key, owner }) {
      await run(script.release, keys(key, 'next'), owner)
    },
    close,
  }
}
