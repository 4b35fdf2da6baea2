import { type ProcessReport, processStore } from '../../plugins/shared/development/process-report.ts'
import { type HandedOver, setHandover } from '../../plugins/shared/environment/handover.ts'
import { madeIn } from '../../plugins/shared/values/memoize.ts'
import type { Kept, News, StoreContents } from './protocol.ts'

/**
 * Lets stores of this process keep their data after its end: each change is sent to the development server immediately, because a
 * version may end without notice. It stays in memory there, and is passed only to the next version.
 *
 * Returns the function that passes the data of the previous version to the stores.
 */
export function bringHandover(send: (news: News) => void): (left: StoreContents) => void {
  const stores = new Map<string, (entries: HandedOver) => void>()
  let left: StoreContents | undefined
  setHandover({
    open(name, restore) {
      // Two servers of one application may have the same name for their sessions.
      let store = name
      for (let count = 2; stores.has(store); count++) store = `${name} ${count}`
      stores.set(store, restore)
      if (left !== undefined) restore(left[store] ?? [])
      return {
        set: (id, text, until) => send({ framework: 'kept', store, id, text, until }),
        delete: (id) => send({ framework: 'kept', store, id }),
      }
    },
  })
  return (given) => {
    left = given
    for (const [store, restore] of stores) restore(given[store] ?? [])
  }
}

/** The data that the stores of all versions keep from one version to the next: only in the memory of the development server. */
export function makeKeptStores() {
  const stores = new Map<string, Map<string, { readonly text: string; readonly until: number }>>()
  return {
    take({ store, id, text, until }: Kept): void {
      const entries = madeIn(stores, store, () => new Map())
      if (text === undefined || until === undefined) entries.delete(id)
      else entries.set(id, { text, until })
    },
    /** Notes how a version has ended, which it cannot report itself, for the page of the next one. */
    ended(pid: number | undefined, why: string): void {
      const entry = stores.get(processStore)?.get(String(pid))
      const last = entry && (JSON.parse(entry.text) as ProcessReport)
      if (last)
        stores.get(processStore)!.set(String(pid), { ...entry, text: JSON.stringify({ ...last, state: 'ended', why }) })
    },
    /** The unexpired data; the rest is dropped. */
    left(): StoreContents {
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
