import { checkOptions, OptionError, quoted, type Request, sizeOption } from '../../kernel/index.ts'
import { addressLike, isAddress } from '../shared/address.ts'

/** What a request does when another one is computing the same answer. */
export type LockBehavior = 'wait' | 'bypass' | 'fail'

/** How the Redis provider is reached. */
export interface RedisOptions {
  /** `redis://` or `rediss://` address. Default `REDIS_URL`, else `redis://127.0.0.1:6379`. */
  url?: string
  /** A client of ioredis in place of an address; it is not closed with the server. */
  client?: object
  /** Stands in front of every key, for a Redis that several applications share. Default none. */
  prefix?: string
  /** Milliseconds after which a command counts as failed and the request goes on uncached. Default 200. */
  timeout?: number
}

/** Options of the cache plugin. */
export interface CacheOptions {
  /** Where answers are kept. Default `'memory'`. */
  provider?: 'memory' | 'redis'
  /** Seconds, up to 86400. Default 300. */
  defaultTtl?: number
  redis?: RedisOptions
  /** Bound of the memory provider: bytes or text such as `'64mb'`, the default. */
  maxSize?: number | string
  /** Default `'wait'`. */
  lockBehavior?: LockBehavior
  /** Milliseconds that a request waits for another one at most. Default 5000. */
  lockTimeout?: number
  /**
   * Further request headers that say who is asking, such as `x-acme-key`: requests with one are passed by, like those with
   * `authorization`, `cookie`, `x-api-key` and the other usual ones.
   */
  personalHeaders?: readonly string[]
}

/** The route option `cache`. */
export interface CacheRouteOptions {
  /** Seconds, up to 86400. Default: `defaultTtl` of the plugin. */
  ttl?: number
  /** Names by which `invalidate` finds the answer; `:name` stands for the route parameter of that name. */
  tags?: readonly string[]
  lockBehavior?: LockBehavior
  /** Whether requests with `authorization`, `cookie` or another credential share answers with everybody. Default false. */
  shared?: boolean
  /** What tells answers apart, beside method, host, path and query. */
  include?: CacheInclude
}

export interface CacheInclude {
  headers?: readonly string[]
  body?: true
  /** Any further text. */
  key?(req: Request): string
}

export interface CacheSettings {
  readonly provider: 'memory' | 'redis'
  readonly defaultTtl: number
  readonly redis: { url: string | undefined; client: object | undefined; prefix: string; timeout: number }
  readonly maxSize: number
  readonly lockBehavior: LockBehavior
  readonly lockTimeout: number
  readonly personalHeaders: readonly string[]
}

/** Request headers that say who is asking: what applications, gateways and proxies that authenticate usually call them. */
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

function ttlOf(name: string, ttl: unknown, fallback: number): number {
  if (ttl === undefined) return fallback
  if (typeof ttl === 'number' && ttl > 0 && ttl <= longest) return ttl
  throw OptionError(name, quoted(ttl), `seconds, above 0 and up to ${longest} (a day)`)
}

function behaviorOf(name: string, behavior: unknown, fallback: LockBehavior): LockBehavior {
  if (behavior === undefined) return fallback
  if (behavior === 'wait' || behavior === 'bypass' || behavior === 'fail') return behavior
  throw OptionError(name, quoted(behavior), '"wait", "bypass" or "fail"')
}

function millisecondsOf(name: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  if (typeof value === 'number' && value > 0 && value <= 2_147_483_647) return value
  throw OptionError(name, quoted(value), 'milliseconds above 0')
}

function redisOf(redis: RedisOptions = {}): CacheSettings['redis'] {
  checkOptions('cache.redis', redis, ['url', 'client', 'prefix', 'timeout'])
  const { client, prefix = '', url } = redis
  if (url !== undefined && !isAddress('redis', url)) {
    throw OptionError('cache.redis.url', url, addressLike('redis'))
  }
  if (client !== undefined && typeof (client as { defineCommand?: unknown })?.defineCommand !== 'function') {
    throw OptionError('cache.redis.client', client, 'a client of ioredis')
  }
  if (typeof prefix !== 'string') throw OptionError('cache.redis.prefix', prefix, 'text')
  return { url, client, prefix, timeout: millisecondsOf('cache.redis.timeout', redis.timeout, 200) }
}

/** The options with every default in place; a wrong one throws. */
export function settingsOf(options: CacheOptions): CacheSettings {
  const known = ['provider', 'defaultTtl', 'redis', 'maxSize', 'lockBehavior', 'lockTimeout', 'personalHeaders']
  checkOptions('cache', options, known)
  const { provider = 'memory', maxSize = '64mb' } = options
  if (provider !== 'memory' && provider !== 'redis')
    throw OptionError('cache.provider', quoted(provider), '"memory" or "redis"')
  if (provider === 'memory' && options.redis !== undefined) {
    throw OptionError('cache.redis', options.redis, 'provider: "redis" beside it')
  }
  return {
    provider,
    defaultTtl: ttlOf('cache.defaultTtl', options.defaultTtl, 300),
    redis: redisOf(options.redis),
    maxSize: sizeOption('cache.maxSize', maxSize),
    lockBehavior: behaviorOf('cache.lockBehavior', options.lockBehavior, 'wait'),
    lockTimeout: millisecondsOf('cache.lockTimeout', options.lockTimeout, 5000),
    personalHeaders: [...new Set([...credentials, ...headersOf('cache.personalHeaders', options.personalHeaders)])],
  }
}

/** One route's caching, with the plugin's defaults. */
export interface RouteSettings {
  readonly ttl: number
  readonly tags: readonly string[]
  readonly lockBehavior: LockBehavior
  /** A request with one of them is passed by. */
  readonly personal: readonly string[]
  /** In the key, sorted. */
  readonly headers: readonly string[]
  readonly body: boolean
  readonly key: ((req: Request) => string) | undefined
}

function listOf(name: string, list: unknown, each: (text: string) => boolean, expected: string): string[] {
  if (list === undefined) return []
  if (Array.isArray(list) && list.every((one) => typeof one === 'string' && each(one))) return list as string[]
  throw OptionError(name, quoted(list), expected)
}

function headersOf(name: string, list: unknown): string[] {
  const isName = (text: string) => /^[\w-]+$/.test(text)
  return listOf(name, list, isName, 'an array of header names').map((header) => header.toLowerCase())
}

/**
 * Checks the route option; `method` decides what can be cached at all. `validated` are the headers that the route's schema
 * names: the handler reads them, so they are part of the key.
 */
export function routeSettingsOf(
  given: true | CacheRouteOptions,
  method: string,
  plugin: CacheSettings,
  validated: readonly string[],
): RouteSettings {
  const options = given === true ? {} : given
  if (typeof options !== 'object' || options === null) throw OptionError('cache', options, '{ ttl, tags } or true')
  checkOptions('cache', options, ['ttl', 'tags', 'lockBehavior', 'shared', 'include'])
  const { include = {}, shared = false } = options
  if (typeof include !== 'object' || include === null)
    throw OptionError('cache.include', include, '{ headers, body, key }')
  checkOptions('cache.include', include, ['headers', 'body', 'key'])
  if (typeof shared !== 'boolean') throw OptionError('cache.shared', quoted(shared), 'true or false')
  if (include.body !== undefined && include.body !== true)
    throw OptionError('cache.include.body', quoted(include.body), 'true')
  if (include.key !== undefined && typeof include.key !== 'function') {
    throw OptionError('cache.include.key', include.key, 'a function (req) => string')
  }
  if (method !== 'GET' && method !== 'HEAD' && include.body !== true) {
    throw OptionError(
      'cache.include.body',
      quoted(include.body),
      `true on a ${method} route: the body must be part of the key`,
    )
  }
  const headers = headersOf('cache.include.headers', include.headers)
  return {
    ttl: ttlOf('cache.ttl', options.ttl, plugin.defaultTtl),
    tags: listOf('cache.tags', options.tags, (tag) => tag !== '', 'an array of names'),
    lockBehavior: behaviorOf('cache.lockBehavior', options.lockBehavior, plugin.lockBehavior),
    personal: shared ? [] : plugin.personalHeaders.filter((name) => !headers.includes(name)),
    headers: [...new Set([...headers, ...validated])].sort(),
    body: include.body === true,
    key: include.key,
  }
}
