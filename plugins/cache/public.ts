// The names that `framework` has as well.
import type { CacheRouteOptions } from './options.ts'
import type { CacheService } from './service.ts'

export type { CacheDataOptions } from './data.ts'
export type { CacheInclude, CacheOptions, CacheRouteOptions, LockBehavior } from './options.ts'
export { CacheService, getCacheService } from './service.ts'

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Caches the responses of this route; needs the cache plugin. `true` uses the plugin's defaults. */
    cache?: boolean | CacheRouteOptions
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Keeps data, and removes outdated data and responses; added by the plugin `cache`. */
    cache: CacheService
  }
}
