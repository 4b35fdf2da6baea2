import { ArgumentsError, clock, defineErrors, type Logger, TracePoint, within } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { ServiceDown } from '../shared/stores/breaker.ts'
import { changedByJson, jsonText } from '../shared/values/json-text.ts'
import { LruMap } from '../shared/values/lru.ts'
import { nameInTenant } from '../shared/values/tenants.ts'
import { Call, Running } from '../shared/work/running.ts'
import type { Entry } from './entry.ts'
import { Flights } from './flights.ts'
import type { CacheSettings } from './options.ts'
import { askFor } from './stores/ask.ts'
import type { CacheStore, Fill } from './stores/contract.ts'

const { CacheValueError } = defineErrors({
  CacheValueError: (key: string, why: string) => `the result for the key ${JSON.stringify(key)} ${why}`,
})

/** Options of cached data. Times are in seconds. */
export interface CacheDataOptions {
  /** Seconds for which the result is returned as it is, up to a year. Default: `defaultTtl` of the plugin. */
  ttl?: number
  /** Seconds after `ttl` for which the old result is still returned, while one caller renews it in the background. Default 0. */
  stale?: number
  /** Seconds in place of `ttl` for the results `undefined` and `null`. Default: `ttl`. */
  negativeTtl?: number
  /** Names by which `invalidate` finds the result. */
  tags?: readonly string[]
}

/** A lookup of data in the cache. */
export interface CacheDataTrace {
  /** The key of the data, as it was passed. */
  readonly key: string
  /** Whether the result was kept, was kept and has to be renewed, came from another caller who computed it, or was computed. */
  readonly outcome: 'hit' | 'stale' | 'wait' | 'miss'
}

const year = 365 * 86_400
const seconds = option.number({ above: 0, max: year }).says(`seconds, above 0 and up to ${year} (a year)`)

const dataOptions = option
  .shape({
    ttl: seconds,
    stale: option.number({ min: 0, max: year }).says(`seconds, up to ${year} (a year)`).default(0),
    negativeTtl: seconds,
    tags: option.list(option.name()).default([]),
  })
  .typed<CacheDataOptions>()

const lookPoint = new TracePoint<CacheDataTrace>('cache.data')

/** Milliseconds in which a result that could not be renewed is not renewed again: each caller would otherwise try at once. */
const restMs = 1_000

/** What callers that wait for a computation receive. */
type Landed = { readonly entry: Entry } | { readonly error: unknown }

/** One call. */
interface Wish extends SettingsOf<typeof dataOptions> {
  readonly key: string
  /** The key in the store. It has a `#`, as keys of responses have, and begins in another way. */
  readonly id: string
  /** Those of the caller, and one for this key alone. */
  readonly all: readonly string[]
  compute(work: { readonly signal: AbortSignal }): unknown
}

const idOf = (key: string) => `data:${key.replace(/[%#]/g, encodeURIComponent)}#${nameInTenant('')}`

/** The tag of one key. No one writes such a tag by mistake. */
export const tagOfKey = (key: string): string => `\0${nameInTenant(key)}`

const isFresh = ({ freshUntil = 0 }: Entry) => clock.now() < freshUntil

// A new object for each caller, who may change it.
const valueIn = ({ body }: Entry): unknown => (body === '' ? undefined : JSON.parse(String(body)))

/** The service of the cache, whose store is opened at boot. */
interface DataHost {
  readonly store: CacheStore | undefined
  readonly log: Logger | undefined
}

/** Keeps the results of functions in the store of the cache, and computes each only once at a time. */
export class DataCache {
  readonly flights = new Flights<Landed>()
  readonly running = new Running()
  readonly #defaultTtl: number
  /** Milliseconds to wait for another caller: if that one dies, the next one begins after the first half, and has the second one. */
  readonly #patience: number
  readonly #host: DataHost
  readonly #failed = new LruMap<true>({ max: 1_000 })

  constructor({ defaultTtl, lockTimeout }: Pick<CacheSettings, 'defaultTtl' | 'lockTimeout'>, host: DataHost) {
    this.#defaultTtl = defaultTtl
    this.#patience = 2 * lockTimeout
    this.#host = host
  }

  async getOrSet(key: string, options: CacheDataOptions, compute: Wish['compute']): Promise<unknown> {
    if (typeof key !== 'string' || key === '') throw ArgumentsError('getOrSet', 'a key, a string that is not empty')
    if (typeof compute !== 'function') throw ArgumentsError('getOrSet', 'a key, options and a function')
    const settings = dataOptions.parse(options, 'getOrSet')
    const all = [...new Set([...settings.tags, tagOfKey(key)])]
    return valueIn(await this.#get({ ...settings, key, id: idOf(key), all, compute }))
  }

  async #get(wish: Wish): Promise<Entry> {
    const found = await this.#find(wish.id)
    if (found !== undefined) {
      const outcome = isFresh(found) ? 'hit' : 'stale'
      report(wish, outcome)
      if (outcome === 'stale') this.#renewLater(wish)
      return found
    }
    const flight = this.flights.find(wish.id, this.#patience)
    if (flight === undefined) return (await this.#lead(wish, true))!
    const landed = await within(flight.landed, this.#patience, () => undefined)
    // It was invalidated meanwhile, or takes too long: the first of those that wait computes it again.
    if (landed === undefined) return this.#get(wish)
    if ('error' in landed) throw landed.error
    report(wish, 'wait')
    return landed.entry
  }

  async #find(id: string): Promise<Entry | undefined> {
    try {
      return await this.#host.store?.get(id)
    } catch (error) {
      if (error instanceof ServiceDown) return undefined
      throw error
    }
  }

  /** Renews a result that is still returned, unless that is happening, in this process or in another one. */
  #renewLater(wish: Wish): void {
    const { key, id } = wish
    if (this.#failed.has(id) || this.flights.find(id, this.#patience) !== undefined) return
    void clock
      .hold(() => this.#lead(wish, false))
      .catch((err: unknown) => {
        this.#failed.set(id, true, restMs)
        this.#host.log?.warn(
          { err, key },
          'cached data could not be renewed: the old result is returned until its time is over',
        )
      })
  }

  /** Computes the result for this caller and for those that come meanwhile; `undefined` only for one that does not wait. */
  async #lead(wish: Wish, mayWait: boolean): Promise<Entry | undefined> {
    const flight = this.flights.start(wish.id, wish.all)
    const call = new Call(this.running)
    let landed: Landed | undefined
    let fill: Fill | undefined
    try {
      const { store } = this.#host
      const wanted = { key: wish.id, tags: wish.all, mayWait: () => mayWait, isUsable: isFresh }
      const right = store === undefined ? 'down' : await askFor(store, wanted, this.#patience)
      if (right === 'busy') return undefined
      if (typeof right === 'object' && 'entry' in right) {
        landed = right
        report(wish, 'wait')
        return right.entry
      }
      if (typeof right === 'object') fill = right.fill
      report(wish, 'miss')
      const { entry, ttl } = this.#entryOf(wish, await wish.compute({ signal: call.signal }))
      landed = { entry }
      const committed = fill?.commit(entry, ttl + wish.stale)
      fill = undefined
      if ((await committed) === 'stale') landed = undefined
      return entry
    } catch (error) {
      landed = { error }
      throw error
    } finally {
      await fill?.abandon()
      flight.land(landed)
      call.end()
    }
  }

  #entryOf({ key, ttl, negativeTtl }: Wish, value: unknown): { entry: Entry; ttl: number } {
    const own = (value == null ? negativeTtl : undefined) ?? ttl ?? this.#defaultTtl
    const body = value === undefined ? '' : textOf(key, value)
    return { entry: { status: 200, headers: [], body, freshUntil: clock.now() + own * 1_000 }, ttl: own }
  }
}

function report({ key }: Wish, outcome: CacheDataTrace['outcome']): void {
  if (lookPoint.isOn) lookPoint.publish({ key, outcome })
}

/** The JSON of a result. What JSON would change is refused: a result must be the same whether it was computed or kept. */
function textOf(key: string, value: unknown): string {
  const text = jsonText(value, (why) => CacheValueError(key, why))
  const changed = changedByJson(value)
  if (changed === undefined) return text
  throw CacheValueError(
    key,
    `has ${changed}, which JSON would change: keep strings, numbers, booleans, null, arrays and plain objects`,
  )
}
