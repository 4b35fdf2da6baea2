import { defineError, type Logger } from '../../kernel/index.ts'

type Awaitable<T> = T | Promise<T>

/**
 * Where sessions are kept: three methods, and one that a store may have.
 *
 * Data is plain JSON and each object is the receiver's own. A failure is thrown; what takes longer than 2 seconds has failed.
 *
 * @example
 * const rows = new Map<string, { data: object; until: number }>()
 * const store: SessionStore = {
 *   get: (id) => (rows.has(id) && rows.get(id)!.until > Date.now() ? rows.get(id)!.data : undefined),
 *   set: (id, data, ttl) => void rows.set(id, { data, until: Date.now() + ttl * 1000 }),
 *   destroy: (id) => void rows.delete(id),
 * }
 */
export interface SessionStore {
  /** The data of a session; `undefined` or `null` when there is none of that id, or it has expired. */
  get(id: string): Awaitable<object | undefined | null>
  /** Keeps data under an id for so many seconds, in place of what is there. */
  set(id: string, data: object, ttlSeconds: number): Awaitable<void>
  /** Forgets a session; one that is not there is fine. */
  destroy(id: string): Awaitable<void>
  /** Begins the seconds anew and leaves the data alone; without it `rolling` reads and writes. */
  touch?(id: string, ttlSeconds: number): Awaitable<void>
}

/** A store with a name for messages. */
export interface NamedStore {
  readonly name: string
  readonly store: SessionStore
}

export const SessionStoreError = defineError(
  'SessionStoreError',
  503,
  (name: string, what: string) => `the session store "${name}" ${what}. Try again later`,
)

/** Milliseconds after which a store counts as failed: a request must not hang for one that does not answer. */
const deadline = 2_000

/** A store whose every failure is one error, with a bound on the time, logged once per change of state. */
export class GuardedStore {
  readonly #name: string
  readonly #store: SessionStore
  readonly #log: Logger
  #failing = false

  constructor({ name, store }: NamedStore, log: Logger) {
    this.#name = name
    this.#store = store
    this.#log = log
  }

  /** The data of a session, `undefined` when there is none. */
  get(id: string): Awaitable<object | undefined> {
    const found = this.#guard('cannot be read', () => this.#store.get(id))
    return found instanceof Promise ? found.then((data) => this.#dataOf(data)) : this.#dataOf(found)
  }

  set(id: string, data: object, ttl: number): Awaitable<void> {
    return this.#guard('cannot be written', () => this.#store.set(id, data, ttl))
  }

  destroy(id: string): Awaitable<void> {
    return this.#guard('cannot forget a session', () => this.#store.destroy(id))
  }

  async touch(id: string, ttl: number): Promise<void> {
    if (this.#store.touch !== undefined) {
      await this.#guard('cannot be written', () => this.#store.touch!(id, ttl))
      return
    }
    // Not with what this request has read: another one may have written since.
    const data = await this.get(id)
    if (data !== undefined) await this.set(id, data, ttl)
  }

  /** A store of strings is an easy mistake, and each letter would become a member of the session. */
  #dataOf(data: unknown): object | undefined {
    if (data === undefined || data === null) return undefined
    if (typeof data === 'object' && !Array.isArray(data)) return data
    throw this.#failure('cannot be read', new TypeError(`get() gave a ${typeof data}, and no object`))
  }

  /** Stays synchronous for a store that is. */
  #guard<T>(what: string, call: () => Awaitable<T>): Awaitable<T> {
    let result: Awaitable<T>
    try {
      result = call()
    } catch (error) {
      throw this.#failure(what, error)
    }
    if (typeof (result as PromiseLike<T> | undefined)?.then !== 'function') return this.#works(result as T)
    return inTime(Promise.resolve(result)).then(
      (value) => this.#works(value),
      (error: unknown) => {
        throw this.#failure(what, error)
      },
    )
  }

  #works<T>(value: T): T {
    if (this.#failing) {
      this.#failing = false
      this.#log.warn({ store: this.#name }, `the session store "${this.#name}" works again`)
    }
    return value
  }

  #failure(what: string, cause: unknown): Error {
    const error = Object.assign(SessionStoreError(this.#name, what), { cause })
    if (!this.#failing) {
      this.#failing = true
      this.#log.error({ err: cause, store: this.#name }, `the session store "${this.#name}" ${what}`)
    }
    return error
  }
}

function inTime<T>(result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${deadline} ms`)), deadline)
    result.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
