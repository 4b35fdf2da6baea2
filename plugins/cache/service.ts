import { isInTime, type Logger, systemClock } from '../../kernel/index.ts'
import { whenCommitted } from '../shared/work/transactions.ts'
import { type CacheDataOptions, DataCache, tagOfKey } from './data.ts'
import type { Entry } from './entry.ts'
import { type Flight, Flights } from './flights.ts'
import { globTest } from './glob.ts'
import type { CacheSettings } from './options.ts'
import type { CacheStore } from './stores/contract.ts'

/**
 * The service of the cache plugin: keeps data, and removes outdated data and responses.
 *
 * @example
 * await getCacheService()?.invalidate(['books'])
 */
export class CacheService {
  /** @internal */
  readonly flights = new Flights<Entry>()
  readonly #data: DataCache
  /** Set at boot. @internal */
  store: CacheStore | undefined
  /** @internal */
  log: Logger | undefined
  /** Throws when other processes have cached responses that this one cannot remove. */
  #mustReachAll: () => void = () => {}

  /** @internal */
  constructor(settings: Pick<CacheSettings, 'defaultTtl' | 'lockTimeout'>) {
    this.#data = new DataCache(settings, this)
  }

  /**
   * Returns the kept result of a function, or calls it and keeps its result. However many callers ask at once, in all processes that share
   * the store, one computes; the others wait for its result up to twice `lockTimeout`, or receive the old one while it is `stale`.
   *
   * Results are JSON, also `undefined` and `null`; each caller receives an object of its own. An error is not kept: it is thrown to the callers of
   * this process that wait, and the next one computes again. While the store does not respond, each process computes for itself.
   *
   * @throws (as a rejection) the error of the function; CacheValueError for a result that JSON would change; OptionError.
   * @example
   * const cache = server.services.get('cache')
   * const books = await cache.getOrSet('books', { ttl: 60, stale: 600, tags: ['books'] }, async ({ signal }) => {
   *   const response = await fetch('https://books.example/all', { signal })
   *   return (await response.json()) as { title: string }[]
   * })
   */
  async getOrSet<Result>(
    key: string,
    options: CacheDataOptions,
    compute: (work: { readonly signal: AbortSignal }) => Result | PromiseLike<Result>,
  ): Promise<Result> {
    // It was checked that JSON does not change the result.
    return (await this.#data.getOrSet(key, options, compute)) as Result
  }

  /**
   * Removes the result that `getOrSet` has kept for a key; returns whether there was one. A result that is being computed at the time is not
   * kept either.
   *
   * @throws (as a rejection) when the store cannot be reached: the result then remains.
   * @example
   * await getCacheService()?.delete('books')
   */
  async delete(key: string): Promise<boolean> {
    return (await this.invalidate([tagOfKey(key)])) > 0
  }

  /**
   * Removes every response and all data with one of the tags, and returns how many were removed. Those with one of the tags that are
   * being computed at the time are not kept either.
   *
   * @throws (as a rejection) when the store cannot be reached: they then remain.
   * @example
   * await getCacheService()?.invalidate(['books', 'book:1'])
   */
  async invalidate(tags: readonly string[]): Promise<number> {
    if (!Array.isArray(tags) || tags.some((tag) => typeof tag !== 'string')) {
      throw new TypeError(
        `invalidate takes an array of tags, not ${typeof tags === 'string' ? `"${tags}"` : typeof tags}`,
      )
    }
    return this.#drop(
      (flight) => flight.tags.some((tag) => tags.includes(tag)),
      () => this.store?.invalidate(tags),
    )
  }

  /**
   * Removes every response and all data whose key matches, and returns how many were removed. The key of a response is
   * `cache:<METHOD>:<path>`, followed by `?<query>` if the request has a query; that of data is `data:<key>`, where `%` and `#` are encoded.
   * `*` matches any run of characters, `?` any single one.
   *
   * @throws (as a rejection) when the store cannot be reached: they then remain.
   * @example
   * await getCacheService()?.invalidatePattern('cache:GET:/books*')
   */
  async invalidatePattern(pattern: string): Promise<number> {
    if (typeof pattern !== 'string' || pattern === '')
      throw new TypeError('invalidatePattern takes a pattern such as "cache:GET:/books*"')
    const isMeant = globTest(pattern)
    return this.#drop(
      ({ key }) => isMeant(key),
      () => this.store?.invalidatePattern(pattern),
    )
  }

  /** Removes what is meant, also what is being computed; in a transaction, after its commit. */
  #drop(
    isMeant: (flight: Pick<Flight<unknown>, 'key' | 'tags'>) => boolean,
    invalidate: () => number | Promise<number> | undefined,
  ): Promise<number> {
    const drop = async () => {
      this.#mustReachAll()
      for (const flights of [this.flights, this.#data.flights]) flights.drop(isMeant)
      return (await invalidate()) ?? 0
    }
    return whenCommitted('a cache invalidation', drop, 0)
  }

  /** @internal */
  connect(store: CacheStore, log: Logger, mustReachAll: () => void = () => {}): void {
    this.store = store
    this.log = log
    this.#mustReachAll = mustReachAll
  }

  /** Resolves when no data is being computed. @internal */
  idle(): Promise<void> {
    return this.#data.running.idle()
  }

  /** Aborts computations that remain, waits for them for half of the time, and closes the store. @internal */
  async close(timeLeft: number): Promise<void> {
    this.#data.running.abort(new Error('the server closes'))
    await isInTime(this.idle(), timeLeft / 2, systemClock)
    await this.store?.close()
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
export const getCacheService = (): CacheService | undefined => [...openServices].at(-1)
