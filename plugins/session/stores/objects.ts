import { type ExactStore, isData, type TextStore } from './contract.ts'

/** Wraps a store of the application, which keeps objects: each request gets its own copy, and the store's objects are not changed. */
export class ObjectStore implements TextStore {
  readonly touch?: TextStore['touch']
  readonly #store: ExactStore

  constructor(store: ExactStore) {
    this.#store = store
    if (store.touch !== undefined) this.touch = (id, ttl) => store.touch!(id, ttl)
  }

  get(id: string): ReturnType<TextStore['get']> {
    const found = this.#store.get(id)
    // Not with `instanceof`: a library may have its own promises.
    const isLater = typeof (found as PromiseLike<unknown> | undefined | null)?.then === 'function'
    return isLater ? Promise.resolve(found).then(textOf) : textOf(found)
  }

  set(id: string, text: string, ttl: number): ReturnType<TextStore['set']> {
    return this.#store.set(id, JSON.parse(text), ttl)
  }

  update(id: string, text: string, ttl: number): ReturnType<TextStore['update']> {
    return this.#store.update(id, JSON.parse(text), ttl)
  }

  destroy(id: string): ReturnType<TextStore['destroy']> {
    return this.#store.destroy(id)
  }
}

/** Refuses strings: a store that returns them is an easy mistake, and each letter would become a member of the session. */
function textOf(data: unknown): string | undefined {
  if (data === undefined || data === null) return undefined
  if (isData(data)) return JSON.stringify(data)
  throw new TypeError(`get() gave ${Array.isArray(data) ? 'an array' : `a ${typeof data}`} and not an object`)
}
