import { described, type OptionPlace, quoted } from '../../kernel/index.ts'
import type { SetCookieOptions } from '../cookie/index.ts'
import { secrets } from '../shared/environment/secrets.ts'
import { cookieAttributes } from '../shared/http/cookie-attributes.ts'
import { option } from '../shared/options/index.ts'
import { type RedisAddress, redisOptions, redisUrl } from '../shared/stores/redis.ts'
import type { SessionStore } from './stores/contract.ts'
import type { RedisClient } from './stores/redis.ts'

/** The store of the sessions: in `memory`, where `max` limits their number, in `redis`, or a store of your own. */
export type SessionStoreOption =
  | 'memory'
  /** In `memory`, at most `max` sessions; the least recently used one is dropped. Default 10 000. */
  | { readonly memory: { readonly max?: number } }
  /** In `redis`: a URL, options of `ioredis`, or an `ioredis` client, which the caller must close. */
  | { readonly redis: string | RedisAddress | RedisClient }
  | SessionStore

/** Attributes of the session cookie; its lifetime is `ttl`, and it is always signed. */
export type SessionCookieOptions = Omit<SetCookieOptions, 'signed' | 'maxAge' | 'expires'>

/** Options of the session plugin. */
export interface SessionOptions {
  /** Signs the id in the cookie: the first secret signs and all are accepted, so secrets can be replaced. Random, 32 characters or more. */
  secret: string | readonly string[]
  /** The name of the cookie. Default `sid`. */
  name?: string
  /** SECONDS for which a session is kept after it was last saved, in the store and in the browser. Default 86400, a day. */
  ttl?: number
  /** Where the sessions are kept. Default `memory`, for a single process only. */
  store?: SessionStoreOption
  /** Whether `ttl` restarts with every answer, instead of with every change. Default false. */
  rolling?: boolean
  /** Attributes of the cookie. Default `{ path: '/', httpOnly: true, sameSite: 'lax' }`, and `secure` over https. */
  cookie?: SessionCookieOptions
}

/** The chosen store. */
export type StoreChoice =
  | { readonly kind: 'memory'; readonly max: number }
  | { readonly kind: 'redis'; readonly options: RedisAddress }
  | { readonly kind: 'client'; readonly client: RedisClient }
  | { readonly kind: 'custom'; readonly store: SessionStore }

// Browsers keep a cookie for 400 days at most (RFC 6265bis section 5.6.1).
const maxTtl = 400 * 24 * 3600

const max = option.int({ min: 1, max: 10_000_000 }).says('a whole number of sessions from 1 to 10000000')
const inMemory = option
  .shape({ memory: option.shape({ max: max.default(10_000) }).required() })
  .into(({ memory }): StoreChoice => ({ kind: 'memory', max: memory.max }))

const address = redisOptions()
const inRedis = option
  .shape({ redis: option.custom('an address, options of ioredis, or a client of ioredis', redisOf).required() })
  .into(({ redis }) => redis)

const stores =
  '"memory", { memory: { max } }, { redis: url, options or an ioredis client }, or an object with get, set, update and destroy'

// Secret as a whole, since options of Redis contain its password.
const ownStore = option
  .custom<Exclude<SessionStoreOption, 'memory'>, StoreChoice>(stores, (given, place) => {
    if (typeof given !== 'object' || given === null) return void place.wrong(quoted(given), stores)
    if (has(given, 'get', 'set', 'destroy')) return customStore(given as SessionStore, place)
    if ('memory' in given) return inMemory.read(given as {}, place)
    if ('redis' in given) return inRedis.read(given as {}, place)
    return void place.wrong(
      described(`an object with ${Object.keys(given).slice(0, 5).join(', ') || 'nothing'}`),
      stores,
    )
  })
  .secret()

export const sessionOptions = option
  .shape({
    secret: secrets.required(),
    name: option
      .name(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, "the name of a cookie: letters, digits and !#$%&'*+-.^_`|~")
      .default('sid'),
    ttl: option
      .int({ min: 1, max: maxTtl })
      .says(`a whole number of SECONDS from 1 to ${maxTtl} (400 days)`)
      .default(86_400),
    store: option
      .either(
        option.oneOf('memory').into((): StoreChoice => ({ kind: 'memory', max: 10_000 })),
        ownStore,
      )
      .default('memory'),
    rolling: option.flag().default(false),
    cookie: option.shape(cookieAttributes),
  })
  .into((settings) => {
    const { name, cookie } = settings
    // The prefix restricts the cookie to https; without `secure`, a request over http would only fail.
    const isForHttps = /^__(?:host|secure|http)-/i.test(name) && cookie.secure === undefined
    return isForHttps ? { ...settings, cookie: { ...cookie, secure: true } } : settings
  })
  .typed<SessionOptions>()

function customStore(store: SessionStore, place: OptionPlace): StoreChoice {
  for (const name of ['update', 'touch'] as const) {
    const method: unknown = store[name]
    if (method !== undefined && typeof method !== 'function') place.in(name).wrong(method, 'a function, or nothing')
  }
  return { kind: 'custom', store }
}

function redisOf(redis: unknown, place: OptionPlace): StoreChoice | undefined {
  if (typeof redis === 'string') return { kind: 'redis', options: { url: redisUrl.read(redis, place) } }
  if (has(redis, 'get', 'set', 'setex', 'del', 'expire')) return { kind: 'client', client: redis as RedisClient }
  if (typeof redis !== 'object' || redis === null || Array.isArray(redis) || 'get' in redis) {
    const shown = typeof redis === 'object' && redis !== null ? described('another client') : redis
    return void place.wrong(shown, 'an address, options of ioredis, or a client of ioredis')
  }
  return { kind: 'redis', options: address.read(redis, place) }
}

function has(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
}
