import { clock } from '../../../kernel/index.ts'
import { type Linked, LinkedList } from './linked-list.ts'

/** Why an entry was removed: evicted for lack of room, expired, replaced by another, or deleted. */
export type Dropped = 'evicted' | 'expired' | 'replaced' | 'deleted'

export interface LruOptions<Value> {
  /** The maximum number of entries. */
  readonly max?: number
  /** The maximum of the total size, as `sizeOf` measures it. A single entry that is larger is not kept. */
  readonly maxSize?: number
  readonly sizeOf?: (value: Value, key: string) => number
  /** The clock, in milliseconds. Default: one that is not affected by changes of the system clock. */
  readonly now?: () => number
  readonly onDrop?: (value: Value, key: string, why: Dropped) => void
}

interface Entry<Value> extends Linked {
  readonly key: string
  readonly value: Value
  readonly size: number
  readonly end: number
}

/**
 * A bounded map that drops the least recently used entries.
 *
 * It has a list of its own and does not rely on the order of the `Map`: there, a used entry would be deleted and added again, and after
 * as many uses as there are entries the whole table is rebuilt, while requests wait.
 */
export class LruMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #options: LruOptions<Value>
  readonly #max: number
  readonly #maxSize: number
  readonly #now: () => number
  /** The least recently used first. */
  readonly #order = new LinkedList<Entry<Value>>()
  #size = 0

  constructor(options: LruOptions<Value>) {
    this.#options = options
    this.#max = options.max ?? Number.POSITIVE_INFINITY
    this.#maxSize = options.maxSize ?? Number.POSITIVE_INFINITY
    this.#now = options.now ?? (() => clock.monotonic())
  }

  /** The number of entries, including expired ones that have not been read since. */
  get size(): number {
    return this.#entries.size
  }

  /** Returns the value, which becomes the most recently used. */
  get(key: string): Value | undefined {
    const entry = this.#current(key)
    if (entry === undefined) return undefined
    if (entry !== this.#order.last) {
      this.#order.delete(entry)
      this.#order.add(entry)
    }
    return entry.value
  }

  /** Whether there is an entry for a key; this does not count as a use. */
  has(key: string): boolean {
    return this.#current(key) !== undefined
  }

  set(key: string, value: Value, ttl = Number.POSITIVE_INFINITY): void {
    const before = this.#current(key)
    if (before !== undefined) this.#drop(before, 'replaced')
    const size = this.#options.sizeOf?.(value, key) ?? 0
    if (size > this.#maxSize) return
    const end = ttl === Number.POSITIVE_INFINITY ? ttl : this.#now() + ttl
    const entry: Entry<Value> = { key, value, size, end, next: undefined, previous: undefined }
    this.#entries.set(key, entry)
    this.#size += size
    this.#order.add(entry)
    while (this.#entries.size > this.#max || this.#size > this.#maxSize) {
      const oldest = this.#order.first!
      this.#drop(oldest, this.#hasEnded(oldest) ? 'expired' : 'evicted')
    }
  }

  /** Returns whether there was an entry. */
  delete(key: string): boolean {
    const entry = this.#current(key)
    if (entry !== undefined) this.#drop(entry, 'deleted')
    return entry !== undefined
  }

  clear(): void {
    for (const entry of [...this.#entries.values()]) this.#drop(entry, 'deleted')
  }

  /** The keys of all unexpired entries. */
  keys(): string[] {
    return [...this.#entries.values()].filter((entry) => !this.#hasEnded(entry)).map(({ key }) => key)
  }

  /** All entries that have not expired, with their ends. This does not count as a use. */
  *entries(): Generator<Pick<Entry<Value>, 'key' | 'value' | 'end'>> {
    for (const entry of this.#entries.values()) if (!this.#hasEnded(entry)) yield entry
  }

  /** The values of all entries, including expired ones. This does not count as a use. */
  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) yield value
  }

  #current(key: string): Entry<Value> | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || !this.#hasEnded(entry)) return entry
    this.#drop(entry, 'expired')
    return undefined
  }

  #hasEnded({ end }: Entry<Value>): boolean {
    // In this form, an end that is not a number counts as passed and does not keep its entry for ever.
    return end !== Number.POSITIVE_INFINITY && !(end > this.#now())
  }

  #drop(entry: Entry<Value>, why: Dropped): void {
    this.#entries.delete(entry.key)
    this.#size -= entry.size
    this.#order.delete(entry)
    this.#options.onDrop?.(entry.value, entry.key, why)
  }
}
