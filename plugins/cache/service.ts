import { Flights } from './flights.ts'
import { globTest } from './glob.ts'
import type { CacheStore } from './stores/contract.ts'

/**
 * The service of the cache plugin: removes outdated responses.
 *
 * @example
 * await getCacheService()?.invalidate(['books'])
 */
export class CacheService {
  /** @internal */
  readonly flights = new Flights()
  #store: CacheStore | undefined
  /** Throws when other processes have cached responses that this one cannot remove. */
  #mustReachAll: () => void = () => {}

  /**
   * Removes every response that has one of the tags, and returns how many were removed. Responses with one of the tags that are
   * being computed at the time are not kept either.
   *
   * @throws (as a rejection) when the store cannot be reached: the responses then remain.
   * @example
   * await getCacheService()?.invalidate(['books', 'book:1'])
   */
  async invalidate(tags: readonly string[]): Promise<number> {
    if (!Array.isArray(tags) || tags.some((tag) => typeof tag !== 'string')) {
      throw new TypeError(
        `invalidate takes an array of tags, got ${typeof tags === 'string' ? `"${tags}"` : typeof tags}`,
      )
    }
    this.#mustReachAll()
    this.flights.drop((flight) => flight.tags.some((tag) => tags.includes(tag)))
    return (await this.#store?.invalidate(tags)) ?? 0
  }

  /**
   * Removes every response whose key matches, and returns how many were removed. A key is `cache:<METHOD>:<path>`, followed by
   * `?<query>` if the request has a query; `*` matches any run of characters, `?` any single one.
   *
   * @throws (as a rejection) when the store cannot be reached: the responses then remain.
   * @example
   * await getCacheService()?.invalidatePattern('cache:GET:/books*')
   */
  async invalidatePattern(pattern: string): Promise<number> {
    if (typeof pattern !== 'string' || pattern === '') {
      throw new TypeError('invalidatePattern takes a pattern such as "cache:GET:/books*"')
    }
    this.#mustReachAll()
    const isMeant = globTest(pattern)
    this.flights.drop((flight) => isMeant(flight.key))
    return (await this.#store?.invalidatePattern(pattern)) ?? 0
  }

  /** @internal */
  get store(): CacheStore {
    return this.#store!
  }

  /** @internal */
  connect(store: CacheStore, mustReachAll: () => void = () => {}): void {
    this.#store = store
    this.#mustReachAll = mustReachAll
  }
}

/** The services of the open servers, the newest last. @internal */
export const openServices = new Set<CacheService>()

/**
 * Returns the cache service of the newest open server that has one; `undefined` when none does.
 *
 * The service exists as soon as the server is constructed, so a reference to it may be kept for later.
 *
 * @example
 * await getCacheService()?.invalidate(['books'])
 */
export function getCacheService(): CacheService | undefined {
  return [...openServices].at(-1)
}
