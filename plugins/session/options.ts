import { described, type OptionPlace, quoted } from '../../kernel/index.ts'
import type { SetCookieOptions } from '../cookie/index.ts'
import { secrets } from '../shared/environment/secrets.ts'
import { cookieAttributes } from '../shared/http/cookie-attributes.ts'
import { option } from '../shared/options/index.ts'
import {
  inRedis,
  isInRedis,
  type RedisStoreSettings,
  redisStore,
  type StoreInRedis,
} from '../shared/stores/redis-store.ts'
import { deadline, type SessionStore } from './stores/contract.ts'

/** The store of the sessions: in `memory`, where `max` limits their number, in Redis, or a store of your own. */
export type SessionStoreOption =
  | 'memory'
  /** In `memory`, at most `max` sessions; the least recently used one is dropped. Default 10 000. */
  | { readonly memory: { readonly max?: number } }
  | StoreInRedis
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
  /** Whether `ttl` restarts with every response, instead of with every change. Default false. */
  rolling?: boolean
  /** Attributes of the cookie. Default `{ path: '/', httpOnly: true, sameSite: 'lax' }`, and `secure` over https. */
  cookie?: SessionCookieOptions
}

/** The chosen store. */
export type StoreChoice =
  | { readonly kind: 'memory'; readonly max: number }
  | { readonly kind: 'redis'; readonly redis: RedisStoreSettings }
  | { readonly kind: 'custom'; readonly store: SessionStore }

// Browsers keep a cookie for 400 days at most (RFC 6265bis section 5.6.1).
const maxTtl = 400 * 24 * 3600

const max = option.int({ min: 1, max: 10_000_000 }).says('a whole number of sessions from 1 to 10000000')
const inMemory = option
  .shape({ memory: option.shape({ max: max.default(10_000) }).required() })
  .into(({ memory }): StoreChoice => ({ kind: 'memory', max: memory.max }))

const takes =
  '"memory", { memory: { max } }, "redis", { redis: address or options }, or an object with get, set, update and destroy'
const redis = inRedis(redisStore({ prefix: '', timeout: deadline })).into(
  ({ redis }): StoreChoice => ({ kind: 'redis', redis }),
)

const isStore = option.having<SessionStore>(['get', 'set', 'destroy'], takes).parts.fits
const store = option.custom<SessionStoreOption, StoreChoice>(takes, (given, place) => {
  if (given === 'memory') return inMemory.read({ memory: {} }, place)
  if (given === 'redis') return redis.read(given, place)
  if (typeof given !== 'object' || given === null) return void place.wrong(quoted(given), takes)
  if (isStore(given)) return ownStore(given as SessionStore, place)
  if ('memory' in given) return inMemory.read(given as {}, place)
  if (isInRedis(given)) return redis.read(given as {}, place)
  const names = Object.keys(given).slice(0, 5).join(', ')
  return void place.wrong(described(`an object with ${names || 'nothing'}`), takes)
})

/** @internal */
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
    // Secret as a whole, since options of Redis contain its password.
    store: store.secret().default('memory'),
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

function ownStore(store: SessionStore, place: OptionPlace): StoreChoice {
  for (const name of ['update', 'touch'] as const) {
    const method: unknown = store[name]
    if (method !== undefined && typeof method !== 'function') place.in(name).wrong(method, 'a function, or nothing')
  }
  return { kind: 'custom', store }
}
