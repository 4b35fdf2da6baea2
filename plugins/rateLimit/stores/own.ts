import { isPromise } from '../../../kernel/index.ts'
import { answerWithin } from '../../toolkit/availability.ts'
import type { Hit, RateLimitStore } from './contract.ts'

/** Every request waits for the count, so a store that is silent would make all of them wait. As long as Redis has. */
const deadline = 250

/** A store of the application: one that is silent, or says something else than a count, has failed. */
export class OwnStore implements RateLimitStore {
  readonly #store: RateLimitStore

  constructor(store: RateLimitStore) {
    this.#store = store
  }

  hit(key: string, windowMs: number): Hit | Promise<Hit> {
    const hit: unknown = this.#store.hit(key, windowMs)
    return isPromise(hit) ? answerWithin(hit, deadline).then(hitOf) : hitOf(hit)
  }

  close(): void | Promise<void> {
    return this.#store.close?.()
  }
}

/** Compared with a limit, what is not a number would refuse everyone. */
function hitOf(given: unknown): Hit {
  const { count, resetMs } = (given ?? {}) as Partial<Hit>
  if (Number.isFinite(count) && Number.isFinite(resetMs)) return given as Hit
  throw new TypeError('hit() of the store of the rate limits has to give { count, resetMs }, two numbers')
}
