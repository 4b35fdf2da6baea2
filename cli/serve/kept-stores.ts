import type { Kept } from './child.ts'
import type { StoreContents } from './protocol.ts'

/** What the stores of all versions keep, from one to the next: in the memory of this process, and nowhere else. */
export interface KeptStores {
  take(change: Kept): void
  /** What has not expired. */
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
      const now = Date.now()
      return Object.fromEntries(
        [...stores].map(([store, entries]) => [
          store,
          [...entries].flatMap(([id, { text, until }]) => (until > now ? [[id, text, until] as const] : [])),
        ]),
      )
    },
  }
}
