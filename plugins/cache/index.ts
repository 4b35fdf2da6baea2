import type { AnyClass, AnyMethod, ClassMark, MethodMark } from '../shared/decorators/decorator.ts'
import { routeDecorator } from '../shared/decorators/route-decorator.ts'
import type { CacheRouteOptions } from './options.ts'

export type { RedisStoreOptions } from '../shared/stores/redis-store.ts'
export type { CacheDataTrace } from './data.ts'
export type { CacheTrace } from './middleware.ts'
export { cache } from './plugin.ts'
export * from './public.ts'

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
export const cacheDecorator = (options: true | CacheRouteOptions = true): ClassMark & MethodMark =>
  routeDecorator<AnyClass, AnyMethod>('cache', { cache: options })
