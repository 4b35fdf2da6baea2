import type { AnyClass, AnyMethod, ClassMark, MethodMark } from '../shared/decorators/decorator.ts'
import { routeDecorator } from '../shared/decorators/route-decorator.ts'
import type { CacheRouteOptions } from './options.ts'
import type { CacheService } from './service.ts'

export type { RedisStoreOptions } from '../shared/stores/redis-store.ts'
export type { CacheTrace } from './middleware.ts'
export type { CacheInclude, CacheOptions, CacheRouteOptions, LockBehavior } from './options.ts'
export { cache } from './plugin.ts'
export { CacheService, getCacheService } from './service.ts'

/**
 * Sets the route option `cache` of one method of a controller, or of all its methods; needs the cache plugin.
 *
 * @example
 * import { cache, controller, get } from 'framework'
 *
 * @controller('/books')
 * class Books {
 *   @get('/:id')
 *   @cache({ ttl: 60, tags: ['book::id'] })
 *   show() {
 *     return { id: 1 }
 *   }
 * }
 */
export function cacheDecorator(options: true | CacheRouteOptions = true): ClassMark & MethodMark {
  return routeDecorator<AnyClass, AnyMethod>('cache', { cache: options })
}

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Caches the responses of this route; needs the cache plugin. `true` uses the plugin's defaults. */
    cache?: boolean | CacheRouteOptions
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Invalidates and clears cached responses; added by the plugin `cache`. */
    cache: CacheService
  }
}
