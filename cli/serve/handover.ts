import { type HandedOver, setHandover } from '../../plugins/toolkit/handover.ts'
import type { News, StoreContents } from './protocol.ts'

/**
 * Lets stores of this process keep what they have beyond its end: each change goes to the development server at once, since a
 * version may end without a word. It stays in memory there, and goes to the next version and no one else.
 *
 * Returns how to give the stores what the version before has left.
 */
export function bringHandover(tell: (news: News) => void): (left: StoreContents) => void {
  const stores = new Map<string, (entries: HandedOver) => void>()
  let left: StoreContents | undefined
  setHandover({
    open(name, restore) {
      // Two servers of one application may call their sessions alike.
      let store = name
      for (let count = 2; stores.has(store); count++) store = `${name} ${count}`
      stores.set(store, restore)
      if (left !== undefined) restore(left[store] ?? [])
      return {
        set: (id, text, until) => tell({ framework: 'kept', store, id, text, until }),
        delete: (id) => tell({ framework: 'kept', store, id }),
      }
    },
  })
  return (given) => {
    left = given
    for (const [store, restore] of stores) restore(given[store] ?? [])
  }
}
