import { Breaker, type BreakerOptions } from '../../shared/stores/breaker.ts'
import type { Hit, OnStoreFailure, RateLimitStore } from './contract.ts'
import type { MemoryStore } from './memory.ts'

/** A key that no client has: those have a space. */
const probeKey = 'health'

/**
 * A store that may fail, with a store in memory as its substitute: while it fails, this process counts by itself, from the last known counts.
 *
 * Refusing all clients would turn the counter's failure into a failure of the whole service; allowing all would invite
 * attackers who can make the counter fail.
 */
export class SharedStore {
  readonly #store: RateLimitStore
  readonly #memory: MemoryStore
  readonly #breaker: Breaker

  constructor(store: RateLimitStore, memory: MemoryStore, options: Pick<BreakerOptions, 'timeout' | 'onChange'>) {
    this.#store = store
    this.#memory = memory
    const probe = () => this.#ask(probeKey, 1_000)
    this.#breaker = new Breaker({ ...options, name: 'the store of the rate limits', probe })
  }

  /** Returns `undefined` for a request that cannot be counted and is to be refused. */
  async hit(key: string, windowMs: number, onFailure: OnStoreFailure): Promise<Hit | undefined> {
    const asked = performance.now()
    try {
      return this.#memory.learn(key, await this.#breaker.run(() => this.#ask(key, windowMs)), asked)
    } catch {
      return onFailure === 'refuse' ? undefined : this.#memory.hit(key, windowMs)
    }
  }

  check(): Promise<void> {
    return this.#breaker.check()
  }

  close(): void | Promise<void> {
    this.#breaker.stop()
    return this.#store.close?.()
  }

  /** Checks the count: compared with a limit, anything that is not a number would refuse every client. */
  async #ask(key: string, windowMs: number): Promise<Hit> {
    const hit = (await this.#store.hit(key, windowMs)) as Partial<Hit> | undefined
    if (Number.isFinite(hit?.count) && Number.isFinite(hit?.resetMs)) return hit as Hit
    throw new TypeError('hit() of the store of the rate limits has to give { count, resetMs }, two numbers')
  }
}
