import type { IdempotencyRouteOptions } from './options.ts'

export type { RedisStoreOptions, StoreInRedis } from '../shared/stores/redis-store.ts'
export type { IdempotencyOptions, IdempotencyRouteOptions, IdempotencyRule } from './options.ts'
export { idempotency } from './plugin.ts'
export type { IdempotencyStore } from './stores/contract.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Carries a request with the header `Idempotency-Key` out once, and repeats its response; needs the plugin `idempotency`. */
    idempotency?: boolean | IdempotencyRouteOptions
  }
}
