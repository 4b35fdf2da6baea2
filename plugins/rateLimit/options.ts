import { checkOptions, OptionError, quoted, type Request } from '../../kernel/index.ts'
import type { RateLimitRedisOptions } from './redis-store.ts'
import type { RateLimitStore } from './store.ts'

/** One limit. */
export interface RateLimitRule {
  /** Requests that a client has in one window. Default 100. */
  limit?: number
  /** Milliseconds of a window. Default 60000. */
  windowMs?: number
  /** Who is counted; `undefined`: the address. Default: the address, IPv6 by its /64 network. */
  key?: (req: Request) => string | undefined | Promise<string | undefined>
  /** Requests that are not counted: those for which it says `true`. */
  skip?: (req: Request) => boolean | Promise<boolean>
  /** The status of a refusal. Default 429. */
  statusCode?: number
}

/** The limit of the whole server, and where everything is counted. */
export interface RateLimitOptions extends RateLimitRule {
  /** `'memory'`, options of a Redis, or a store. Default `'memory'`. */
  store?: 'memory' | RateLimitRedisOptions | RateLimitStore
}

/** A limit with every default in place. */
export interface Rule {
  readonly limit: number
  readonly windowMs: number
  readonly key: RateLimitRule['key']
  readonly skip: RateLimitRule['skip']
  readonly statusCode: number
}

const names = ['limit', 'windowMs', 'key', 'skip', 'statusCode']

/** The limit of the server. */
export function ruleOf(options: RateLimitOptions): Rule {
  checkOptions('rateLimit', options, [...names, 'store'])
  const { store, ...rule } = options
  const isKnown = store === undefined || store === 'memory' || (typeof store === 'object' && store !== null)
  if (!isKnown || Array.isArray(store)) {
    throw OptionError('rateLimit.store', store, '"memory", options of a Redis ({ url }) or a store ({ hit })')
  }
  return checkRule(rule, { limit: 100, windowMs: 60_000, key: undefined, skip: undefined, statusCode: 429 })
}

/** The limit of a route: what it leaves out is as for the server. */
export function ruleOfRoute(option: RateLimitRule, ofServer: Rule): Rule {
  checkOptions('rateLimit', option, names)
  return checkRule(option, ofServer)
}

function checkRule(given: RateLimitRule, fallback: Rule): Rule {
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const rule: Rule = { ...fallback, ...defined }
  whole('limit', rule.limit, 1, Number.MAX_SAFE_INTEGER, 'a whole number of requests above 0')
  whole('windowMs', rule.windowMs, 1, 2_147_483_647, 'whole milliseconds above 0')
  whole('statusCode', rule.statusCode, 400, 599, 'a status from 400 to 599')
  for (const name of ['key', 'skip'] as const) {
    const value: unknown = rule[name]
    if (value !== undefined && typeof value !== 'function') {
      throw OptionError(`rateLimit.${name}`, value, 'a function of the request')
    }
  }
  return rule
}

function whole(name: string, value: unknown, min: number, max: number, takes: string): void {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw OptionError(`rateLimit.${name}`, quoted(value), takes)
  }
}
