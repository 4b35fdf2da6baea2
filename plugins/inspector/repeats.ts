import { LruMap } from '../shared/values/lru.ts'
import type { Activity } from './activities.ts'

/** Counts work of one kind within the work around it, such as a query for each row of another one. */
export class Repeats {
  readonly #counts = new LruMap<number>({ max: 2_000 })

  /** Returns the note of work that has ended, with how often it has, if that is `from` times or more. */
  noteOf({ parent, note }: Activity, kind: string, from: number): string {
    if (parent === undefined) return note
    const key = `${parent} ${kind}`
    const times = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, times)
    return times > 1 && times >= from ? [note, `${times} times here`].filter(Boolean).join(', ') : note
  }
}
