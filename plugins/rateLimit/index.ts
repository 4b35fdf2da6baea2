import type { RouteRateLimit } from './options.ts'

export type { RedisStoreOptions, StoreInRedis } from '../shared/stores/redis-store.ts'
export type { RateLimitTrace } from './limiter.ts'
export type {
  RateLimitAmount,
  RateLimitOptions,
  RateLimitRule,
  RateLimitWindow,
  RouteRateLimit,
  SubjectRequest,
} from './options.ts'
export { rateLimit } from './plugin.ts'
export type { Hit, RateLimitStore, StoreWindow, Taken } from './stores/contract.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** A limit for this route alone, with a counter of its own instead of the server's; with `cost` alone, that of the server; `false`: no limit. */
    rateLimit?: false | RouteRateLimit
  }
}
