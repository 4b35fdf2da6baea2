import { described, type OptionPlace, type OptionRoute, quoted, type Request } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { type RedisStoreOptions, redisStore } from '../shared/stores/redis-store.ts'
import { checkTags } from './tags.ts'

/** What a request does while another one computes the same response. */
export type LockBehavior = 'wait' | 'bypass' | 'fail'

/** Options of the cache plugin. */
export interface CacheOptions {
  /** Where responses are stored. Default `'memory'`. */
  provider?: 'memory' | 'redis'
  /** Seconds for which a response is kept unless its route sets `ttl`, up to 86400. Default 300. */
  defaultTtl?: number
  /** The Redis of the provider `'redis'`: an address, or options. Its `timeout` is 200 milliseconds by default. */
  redis?: string | RedisStoreOptions
  /** Memory limit of the memory provider: a number of bytes, or a string such as `'64mb'`, the default. */
  maxSize?: number | string
  /**
   * What a request does while another one computes the same response: `'wait'` for it, `'bypass'` the cache, or `'fail'` with
   * 503. Default `'wait'`.
   */
  lockBehavior?: LockBehavior
  /** Maximum time in milliseconds that a request waits for another one. Default 5000. */
  lockTimeout?: number
  /**
   * Further request headers that identify the client, such as `x-acme-key`. Requests with such a header are not cached, just as
   * requests with `authorization`, `cookie`, `x-api-key` and the other usual headers are not.
   */
  personalHeaders?: readonly string[]
}

/** The route option `cache`. */
export interface CacheRouteOptions {
  /** Seconds for which the response is kept, up to 86400. Default: `defaultTtl` of the plugin. */
  ttl?: number
  /** Names by which `invalidate` finds the response; `:name` is replaced by the route parameter of that name. */
  tags?: readonly string[]
  /** What a request does while another one computes the same response. Default: that of the plugin. */
  lockBehavior?: LockBehavior
  /** Whether requests with `authorization`, `cookie` or another credential share responses with all clients. Default false. */
  shared?: boolean
  /** Parts of the cache key, in addition to method, host, path and query. */
  include?: CacheInclude
}

/** Parts of a request that its response depends on and that therefore belong to the cache key. */
export interface CacheInclude {
  /** Names of request headers; case does not matter. */
  headers?: readonly string[]
  /** `true`: the parsed body is part of the key. Otherwise, requests with a body bypass the cache. */
  body?: true
  /** Returns a further part of the key, such as the language of the caller. */
  key?(req: Request): string
}

/** Request headers that identify the client: those commonly used by applications, gateways and proxies that authenticate. */
const credentials = [
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-apikey',
  'api-key',
  'apikey',
  'x-auth-token',
  'x-auth-key',
  'x-access-token',
  'x-session-token',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
  'x-amz-security-token',
  'x-forwarded-user',
  'x-remote-user',
  'cf-access-jwt-assertion',
  'x-goog-iap-jwt-assertion',
  'x-amzn-oidc-data',
  'x-ms-client-principal',
]

const longest = 86_400

const ttl = option.number({ above: 0, max: longest }).says(`seconds, above 0 and up to ${longest} (a day)`)
const lockBehavior = option.oneOf('wait', 'bypass', 'fail')
const headers = option.list(option.name(/^[\w-]+$/, 'the name of a header').into((header) => header.toLowerCase()))

const redis = redisStore({ prefix: '', timeout: 200 })

export const cacheOptions = option
  .shape({
    provider: option.oneOf('memory', 'redis').default('memory'),
    defaultTtl: ttl.default(300),
    redis: redis.optional(),
    maxSize: option.size().default('64mb'),
    lockBehavior: lockBehavior.default('wait'),
    lockTimeout: option.ms({ above: 0 }).default(5000),
    personalHeaders: headers.default([]),
  })
  .into((given, place) => {
    if (given.provider === 'memory' && given.redis !== undefined)
      place.in('redis').wrong(described('given'), 'provider: "redis" together with it')
    return {
      ...given,
      redis: given.redis ?? redis.parse({}, 'redis'),
      personalHeaders: [...new Set([...credentials, ...given.personalHeaders])],
    }
  })
  .typed<CacheOptions>()

export type CacheSettings = SettingsOf<typeof cacheOptions>

const routeOptions = option.shape({
  ttl,
  tags: option.list(option.name()).default([]),
  lockBehavior,
  shared: option.flag().default(false),
  include: option.shape({
    headers: headers.default([]),
    body: option.oneOf(true),
    key: option.fn<NonNullable<CacheInclude['key']>>('a function (req) => string'),
  }),
})

const ofRoute = option.feature(routeOptions).says(`true, false, or ${routeOptions.takes}`)

/** The cache settings of one route, with the plugin's defaults applied. */
export type RouteSettings = NonNullable<ReturnType<typeof cacheOfRoute>>

/** Reads the route option; the method of the route decides whether it can be cached at all. */
export function cacheOfRoute(given: unknown, place: OptionPlace, route: OptionRoute<CacheSettings>) {
  const { method, path, settings: plugin } = route
  const read = ofRoute.into((own) => {
    if (own === false) return undefined
    const { include } = own
    checkTags(own.tags, path, place.in('tags'))
    if (method !== 'GET' && method !== 'HEAD' && include.body !== true) {
      const takes = `true on a ${method} route: the body must be part of the key`
      place.in('include').in('body').wrong(quoted(include.body), takes)
    }
    const isShared = (header: string): boolean => own.shared || include.headers.includes(header)
    return {
      ttl: own.ttl ?? plugin.defaultTtl,
      tags: own.tags,
      lockBehavior: own.lockBehavior ?? plugin.lockBehavior,
      /** Requests with one of these headers are not cached. */
      personal: plugin.personalHeaders.filter((name) => !isShared(name)),
      /** Whether callers with different values of a header may share responses, or do not because it is part of the key. */
      isShared,
      /** Headers that are part of the key. */
      headers: include.headers,
      body: include.body === true,
      key: include.key,
    }
  })
  return read.read(given as CacheRouteOptions, place)
}
