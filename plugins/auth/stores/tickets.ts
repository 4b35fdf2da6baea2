import { readFileSync } from 'node:fs'
import { clock, OptionError } from '../../../kernel/index.ts'
import { LruMap } from '../../shared/values/lru.ts'
import type { Awaitable } from '../scheme.ts'

/** Where tickets are kept until they are used. */
export interface TicketStore {
  /** Keeps a string until `expiresAt`, in milliseconds since 1970; `id` is a hash. */
  put(id: string, text: string, expiresAt: number): Awaitable<unknown>
  /** Returns what is kept and removes it, in ONE step; nothing if it has ended. In SQL: `delete … where id = $id and expires_at > now() returning text`. */
  take(id: string): Awaitable<string | null | undefined>
}

/**
 * Keeps tickets in memory, for a single process.
 *
 * @example
 * const store = memoryTickets()
 */
export function memoryTickets(): TicketStore {
  const rows = new LruMap<string>({ max: 100_000, now: () => clock.now() })
  return {
    put: (id, text, expiresAt) => rows.set(id, text, expiresAt - clock.now()),
    take(id) {
      const text = rows.get(id)
      rows.delete(id)
      return text
    },
  }
}

const take = readFileSync(new URL('./take.lua', import.meta.url), 'utf8')

/** The methods used of a client of Redis, which `ioredis` has. */
export interface TicketRedis {
  /** Runs a script. */
  eval(script: string, keys: number, ...values: string[]): Promise<unknown>
  /** Sets a key for some milliseconds. */
  psetex(key: string, ms: number, value: string): Promise<unknown>
}

/**
 * Keeps tickets in Redis, with a client of `ioredis`, which the application opens and closes: each instance then takes those of the others.
 *
 * @example
 * declare const redis: TicketRedis
 * const store = redisTickets(redis, { prefix: 'shop:' })
 */
export function redisTickets(client: TicketRedis, { prefix = '' }: { readonly prefix?: string } = {}): TicketStore {
  if (typeof client?.psetex !== 'function') throw OptionError('redisTickets', client, 'a client of ioredis')
  const keyOf = (id: string) => `${prefix}ticket:${id}`
  return {
    put: (id, text, expiresAt) => client.psetex(keyOf(id), Math.ceil(expiresAt - clock.now()), text),
    take: (id) => client.eval(take, 1, keyOf(id)) as Promise<string | null>,
  }
}
