import { checkOptions, described, OptionError, quoted } from '../../kernel/index.ts'
import type { SetCookieOptions } from '../cookie/index.ts'
import { addressLike, isAddress } from '../shared/address.ts'
import type { RedisAddress } from '../shared/redis.ts'
import type { RedisClient } from './redis-store.ts'
import type { SessionStore } from './store.ts'

/** Where sessions are kept. */
export type SessionStoreOption =
  | 'memory'
  /** At most so many sessions; the least used one goes. Default 10 000. */
  | { readonly memory: { readonly max?: number } }
  /** A URL, options of `ioredis`, or a client of it, which stays the caller's to close. */
  | { readonly redis: string | RedisAddress | RedisClient }
  | SessionStore

/** Attributes of the session cookie; how long it lives is `ttl`, and it is always signed. */
export type SessionCookieOptions = Omit<SetCookieOptions, 'signed' | 'maxAge' | 'expires'>

/** Options of the session plugin. */
export interface SessionOptions {
  /** Signs the id in the cookie: the first one signs, all are taken, so that secrets can be replaced. Random, 32 characters or more. */
  secret: string | readonly string[]
  /** The name of the cookie. Default `sid`. */
  name?: string
  /** SECONDS that a session is kept after it was last saved, in the store and in the browser. Default 86400, a day. */
  ttl?: number
  /** Default `memory`, for one process only. */
  store?: SessionStoreOption
  /** Begin `ttl` anew with every answer, instead of with every change. Default false. */
  rolling?: boolean
  /** Attributes of the cookie. Default `{ path: '/', httpOnly: true, sameSite: 'lax' }`, and `secure` over https. */
  cookie?: SessionCookieOptions
}

/** Which store it shall be. */
export type StoreChoice =
  | { readonly kind: 'memory'; readonly max: number }
  | { readonly kind: 'redis'; readonly options: RedisAddress }
  | { readonly kind: 'client'; readonly client: RedisClient }
  | { readonly kind: 'custom'; readonly store: SessionStore }

/** The options with every default in place, checked; `secret` and `cookie` are checked by the cookie plugin. */
export interface SessionSettings {
  readonly secret: string | readonly string[]
  readonly name: string
  readonly ttl: number
  readonly rolling: boolean
  readonly store: StoreChoice
  readonly cookie: SessionCookieOptions
}

/** Attributes that the option `cookie` takes. */
export const cookieAttributes = ['path', 'domain', 'secure', 'httpOnly', 'sameSite', 'priority', 'partitioned']

// Browsers keep a cookie for 400 days at most (RFC 6265bis section 5.6.1).
const maxTtl = 400 * 24 * 3600

export function settingsOf(options: SessionOptions): SessionSettings {
  const isObject = typeof options === 'object' && options !== null
  // First: with `secrt` the secret is there, and it is the name that is wrong.
  if (isObject) checkOptions('session', options, ['secret', 'name', 'ttl', 'store', 'rolling', 'cookie'])
  if (!isObject || options.secret === undefined) {
    throw OptionError('session.secret', undefined, 'a random text that signs the cookie')
  }
  const { secret, name = 'sid', ttl = 86_400, store = 'memory', rolling = false, cookie = {} } = options
  if (typeof name !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) {
    throw OptionError('session.name', quoted(name), "the name of a cookie: letters, digits and !#$%&'*+-.^_`|~")
  }
  if (!Number.isInteger(ttl) || ttl < 1 || ttl > maxTtl) {
    throw OptionError('session.ttl', quoted(ttl), `a whole number of SECONDS from 1 to ${maxTtl} (400 days)`)
  }
  checkOptions('session.cookie', cookie, cookieAttributes)
  if (typeof rolling !== 'boolean') throw OptionError('session.rolling', quoted(rolling), 'true or false')
  const isForHttps = /^__(?:host|secure|http)-/i.test(name) && cookie.secure === undefined
  return {
    secret,
    name,
    ttl,
    rolling,
    store: storeOf(store),
    // The prefix says that the cookie is for https; a request that came over http would only fail.
    cookie: isForHttps ? { ...cookie, secure: true } : cookie,
  }
}

const stores =
  '"memory", { memory: { max } }, { redis: url, options or an ioredis client }, or an object with get, set, update and destroy'

function storeOf(store: unknown): StoreChoice {
  if (store === 'memory') return { kind: 'memory', max: 10_000 }
  if (typeof store !== 'object' || store === null) throw OptionError('session.store', quoted(store), stores)
  if (has(store, 'get', 'set', 'destroy')) return { kind: 'custom', store: ownStore(store as SessionStore) }
  if ('memory' in store) {
    checkOptions('session.store', store, ['memory'])
    const { memory } = store as { memory: { max?: unknown } }
    checkOptions('session.store.memory', memory, ['max'])
    const { max = 10_000 } = memory
    if (typeof max !== 'number' || !Number.isInteger(max) || max < 1 || max > 10_000_000) {
      throw OptionError('session.store.memory.max', quoted(max), 'a whole number of sessions from 1 to 10000000')
    }
    return { kind: 'memory', max }
  }
  if (!('redis' in store))
    throw OptionError(
      'session.store',
      described(`an object with ${Object.keys(store).join(', ') || 'nothing'}`),
      stores,
    )
  checkOptions('session.store', store, ['redis'])
  return redisOf(store.redis)
}

function ownStore(store: SessionStore): SessionStore {
  for (const name of ['update', 'touch'] as const) {
    const method: unknown = store[name]
    if (method !== undefined && typeof method !== 'function') {
      throw OptionError(`session.store.${name}`, method, 'a function, or nothing')
    }
  }
  return store
}

function redisOf(redis: unknown): StoreChoice {
  if (typeof redis === 'string') return { kind: 'redis', options: { url: urlOf('session.store.redis', redis) } }
  if (has(redis, 'get', 'set', 'setex', 'del', 'expire')) return { kind: 'client', client: redis as RedisClient }
  if (typeof redis !== 'object' || redis === null || Array.isArray(redis) || 'get' in redis) {
    const shown = typeof redis === 'object' && redis !== null ? quoted('another client') : redis
    throw OptionError('session.store.redis', shown, 'an address, options of ioredis, or a client of ioredis')
  }
  const options = redis as RedisAddress
  if (options.url !== undefined) urlOf('session.store.redis.url', options.url)
  return { kind: 'redis', options }
}

function urlOf(option: string, url: unknown): string {
  if (isAddress('redis', url)) return url
  throw OptionError(option, url, addressLike('redis'))
}

function has(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
}
