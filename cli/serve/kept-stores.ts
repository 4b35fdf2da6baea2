import type { Kept } from './child.ts'
import type { StoreContents } from './protocol.ts'

/** The data that the stores of all versions keep from one version to the next: only in the memory of this process. */
export interface KeptStores {
  take(change: Kept): void
  /** The unexpired data; the rest is dropped. */
  left(): StoreContents
}

export function makeKeptStores(): KeptStores {
  const stores = new Map<string, Map<string, { readonly text: string; readonly until: number }>>()
  return {
    take({ store, id, text, until }) {
      const entries = stores.get(store) ?? new Map()
      stores.set(store, entries)
      if (text === undefined || until === undefined) entries.delete(id)
      else entries.set(id, { text, until })
    },
    left() {
      // A version that does not receive an expired session does not know about it, and never reports that it has gone.
      const now = Date.now()
      for (const entries of stores.values()) {
        for (const [id, { until }] of entries) if (until <= now) entries.delete(id)
      }
      return Object.fromEntries(
        [...stores].map(([store, entries]) => [
          store,
          [...entries].map(([id, { text, until }]) => [id, text, until] as const),
        ]),
      )
    },
  }
}
