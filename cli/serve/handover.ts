import { type HandedOver, setHandover } from '../../plugins/shared/environment/handover.ts'
import type { News, StoreContents } from './protocol.ts'

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
