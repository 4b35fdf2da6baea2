import { readFileSync } from 'node:fs'
import { clock, OptionError } from '../../../kernel/index.ts'
import { LruMap } from '../../shared/values/lru.ts'
import type { Awaitable } from '../scheme.ts'

/** Where refresh tokens are kept: one row for each log-in, the family of the tokens that follow each other. */
export interface RefreshTokenStore {
  /** Stores a new family; `token` is a hash, `expiresAt` is in milliseconds since 1970. */
  create(family: {
    readonly id: string
    readonly subject: string
    readonly token: string
    readonly expiresAt: number
  }): Awaitable<void>
  /**
   * Replaces the token of a family and its end, in ONE step, if its token is `from` and it has not ended; returns its subject, or nothing
   * if nothing was replaced. In SQL: `update … set token = $to where id = $id and token = $from and expires_at > now() returning subject`.
   */
  rotate(id: string, from: string, to: string, expiresAt: number): Awaitable<string | null | undefined>
  /** Ends a family; a missing one is not an error. `false` and `0` say that there was none, and that nothing else has to end with it. */
  end(id: string): Awaitable<unknown>
}

/**
 * Keeps refresh tokens in memory, for tests and a single process: a restart ends all log-ins.
 *
 * @example
 * const store = memoryRefreshTokens()
 */
export function memoryRefreshTokens(): RefreshTokenStore {
  const rows = new LruMap<{ readonly subject: string; readonly token: string }>({
    max: 100_000,
    now: () => clock.now(),
  })
  return {
    create: ({ id, subject, token, expiresAt }) => rows.set(id, { subject, token }, expiresAt - clock.now()),
    rotate(id, from, to, expiresAt) {
      const row = rows.get(id)
      if (row?.token !== from) return undefined
      rows.set(id, { ...row, token: to }, expiresAt - clock.now())
      return row.subject
    },
    end: (id) => rows.delete(id),
  }
}

const create = readFileSync(new URL('./create.lua', import.meta.url), 'utf8')
const rotate = readFileSync(new URL('./rotate.lua', import.meta.url), 'utf8')

/** The methods used of a client of Redis, which `ioredis` has. */
export interface RefreshTokenRedis {
  /** Runs a script. */
  eval(script: string, keys: number, ...values: string[]): Promise<unknown>
  /** Removes a key. */
  del(key: string): Promise<unknown>
}

/**
 * Keeps refresh tokens in Redis, with a client of `ioredis`, which the application opens and closes.
 *
 * @example
 * declare const redis: RefreshTokenRedis
 * const store = redisRefreshTokens(redis, { prefix: 'shop:' })
 */
export function redisRefreshTokens(
  client: RefreshTokenRedis,
  { prefix = '' }: { readonly prefix?: string } = {},
): RefreshTokenStore {
  if (typeof client?.eval !== 'function') throw OptionError('redisRefreshTokens', client, 'a client of ioredis')
  const keyOf = (id: string) => `${prefix}refresh:${id}`
  const left = (expiresAt: number) => String(Math.ceil(expiresAt - clock.now()))
  return {
    async create({ id, subject, token, expiresAt }) {
      await client.eval(create, 1, keyOf(id), token, subject, left(expiresAt))
    },
    rotate: (id, from, to, expiresAt) =>
      client.eval(rotate, 1, keyOf(id), from, to, left(expiresAt)) as Promise<string | null>,
    end: (id) => client.del(keyOf(id)),
  }
}
