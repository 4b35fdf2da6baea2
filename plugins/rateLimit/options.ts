import type { Request } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { inRedis, redisStore, type StoreInRedis } from '../shared/stores/redis-store.ts'
import type { OnStoreFailure, RateLimitStore } from './stores/contract.ts'

/** One limit. */
export interface RateLimitRule {
  /** Requests that a client may send in one window. Default 100. */
  limit?: number
  /** The length of a window, in milliseconds. Default 60000. */
  windowMs?: number
  /** Returns the key of the counter; `undefined` for the address. Default: the address, for IPv6 its /64 network. */
  key?: (req: Request) => string | undefined | Promise<string | undefined>
  /** Requests for which it returns `true` are not counted. */
  skip?: (req: Request) => boolean | Promise<boolean>
  /** The status of a refusal. Default 429. */
  statusCode?: number
  /**
   * What happens while the store does not respond: `'count'`: each process counts by itself, from the last known counts; `'refuse'`: 503, for
   * log-ins and whatever else must not be tried more often than its limit. Default `'count'`.
   */
  onStoreFailure?: OnStoreFailure
}

/** The limit of the whole server, and the store of the counters. */
export interface RateLimitOptions extends RateLimitRule {
  /** Where requests are counted: `'memory'`, `'redis'` or `{ redis }`, or a store. Default `'memory'`. */
  store?: 'memory' | StoreInRedis | RateLimitStore
}

/** Whether it is a store of the application. */
export const isStore = (given: unknown): given is RateLimitStore =>
  typeof (given as Partial<RateLimitStore> | null)?.hit === 'function'

const rule = {
  limit: option.int({ min: 1 }).says('a whole number of requests above 0').default(100).guard(),
  windowMs: option.int({ min: 1, max: 2_147_483_647 }).says('whole milliseconds above 0').default(60_000).guard(),
  key: option.fn<NonNullable<RateLimitRule['key']>>('a function of the request').guard(),
  skip: option.fn<NonNullable<RateLimitRule['skip']>>('a function of the request'),
  statusCode: option.int({ min: 400, max: 599 }).says('a status from 400 to 599').default(429),
  onStoreFailure: option.oneOf('count', 'refuse').default('count').guard(),
}

/** Milliseconds for which a request waits for its count at most: a silent store would make all of them wait. */
export const deadline = 250

const store = option.either(
  option.oneOf('memory'),
  option.value<RateLimitStore>('a store ({ hit })', isStore),
  inRedis(redisStore({ prefix: 'rate-limit', timeout: deadline })),
)

export const rateLimitOptions = option.shape({ ...rule, store: store.default('memory') }).typed<RateLimitOptions>()

export type RateLimitSettings = SettingsOf<typeof rateLimitOptions>

/** A limit with all defaults filled in. */
export type Rule = Omit<RateLimitSettings, 'store'>

/** Options of one route: missing ones are taken from the server, and so is the store, always. */
export const rateLimitOfRoute = option.overrides<Rule>(option.shape(rule))
