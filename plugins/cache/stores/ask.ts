import { systemClock } from '../../../kernel/index.ts'
import { ServiceDown } from '../../shared/stores/breaker.ts'
import type { Entry } from '../entry.ts'
import type { Begun, CacheStore } from './contract.ts'

/** Milliseconds between two checks whether another process has finished. */
const pollEvery = 20

/** What is wanted from a store. */
interface Wanted {
  readonly key: string
  readonly tags: readonly string[]
  /** Whether the caller waits for another process; called each time that it would have to. */
  mayWait(): boolean
  isUsable?(entry: Entry): boolean
}

/** Asks a store for the right to compute what is missing; while another process has that right, waits for its result for `patience` milliseconds. */
export async function askFor(
  store: CacheStore,
  { key, tags, mayWait, isUsable }: Wanted,
  patience: number,
): Promise<(Begun & { readonly how: 'HIT' | 'WAIT' }) | 'down' | 'busy' | 'late'> {
  let how: 'HIT' | 'WAIT' = 'HIT'
  const deadline = systemClock.monotonic() + patience
  try {
    for (;;) {
      const begun = await store.begin(key, tags, isUsable)
      if (begun !== undefined) return { ...begun, how }
      if (!mayWait()) return 'busy'
      if (systemClock.monotonic() > deadline) return 'late'
      how = 'WAIT'
      await systemClock.sleep(pollEvery)
    }
  } catch (error) {
    if (error instanceof ServiceDown) return 'down'
    throw error
  }
}
