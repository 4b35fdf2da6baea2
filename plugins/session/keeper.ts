import type { GuardedStore } from './stores/contract.ts'

/** Keeps sessions in a store until they expire. */
export class SessionKeeper {
  readonly rolling: boolean
  readonly #store: GuardedStore
  readonly #ttl: number

  constructor(store: GuardedStore, ttl: number, rolling: boolean) {
    this.#store = store
    this.#ttl = ttl
    this.rolling = rolling
  }

  /** Whether all strings in the store come from a keeper. */
  get isPrivate(): boolean {
    return this.#store.isPrivate
  }

  load(id: string): ReturnType<GuardedStore['get']> {
    return this.#store.get(id)
  }

  /** Parses the data in the result of `load`. */
  parse(text: string): object {
    return this.#store.parse(text)
  }

  async create(id: string, text: string): Promise<void> {
    await this.#store.set(id, text, this.#ttl)
  }

  /** Updates the data; returns whether the session still existed. */
  update(id: string, text: string): Promise<boolean> {
    return this.#store.update(id, text, this.#ttl)
  }

  /** Whether the session still existed. */
  touch(id: string): Promise<boolean> {
    return this.#store.touch(id, this.#ttl)
  }

  /** Whether the session still existed. */
  destroy(id: string): Promise<boolean> {
    return this.#store.destroy(id)
  }
}
