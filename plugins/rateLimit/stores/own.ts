import { isPromise } from '../../../kernel/index.ts'
import { answerWithin } from '../../toolkit/availability.ts'
import type { Hit, RateLimitStore } from './contract.ts'

/** The same time as Redis has: every request waits for the count, so a silent store would make all of them wait. */
const deadline = 250

/** A store of the application: it has failed if it is silent, or returns anything other than a count. */
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

/** Checks a count: compared with a limit, anything that is not a number would refuse every client. */
function hitOf(given: unknown): Hit {
  const { count, resetMs } = (given ?? {}) as Partial<Hit>
  if (Number.isFinite(count) && Number.isFinite(resetMs)) return given as Hit
  throw new TypeError('hit() of the store of the rate limits has to give { count, resetMs }, two numbers')
}
