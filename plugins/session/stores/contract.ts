import { defineError, type Logger } from '../../../kernel/index.ts'
import { Availability, answerWithin } from '../../shared/stores/availability.ts'

type Awaitable<T> = T | Promise<T>

/**
 * A store of sessions: three methods, and two optional ones.
 *
 * Data is plain JSON, and each object belongs to its receiver. A failure is thrown; a call that takes longer than 2 seconds has failed.
 * An id that was destroyed never has data again: otherwise a slow request that had read it would log a user in again after a log-out.
 * `update` ensures this in one step of the store. Without it, the store is read before each write, and between the two another
 * process may end the session.
 *
 * @example
 * const rows = new Map<string, { data: object; until: number }>()
 * const has = (id: string) => rows.has(id) && rows.get(id)!.until > Date.now()
 * const store: SessionStore = {
 *   get: (id) => (has(id) ? rows.get(id)!.data : undefined),
 *   set: (id, data, ttl) => void rows.set(id, { data, until: Date.now() + ttl * 1000 }),
 *   update(id, data, ttl) {
 *     if (!has(id)) return false
 *     rows.set(id, { data, until: Date.now() + ttl * 1000 })
 *     return true
 *   },
 *   destroy: (id) => has(id) && rows.delete(id),
 * }
 */
export interface SessionStore {
  /** Returns the data of a session; `undefined` or `null` if no session has this id, or it has expired. */
  get(id: string): Awaitable<object | undefined | null>
  /** Stores data under an id for this many seconds; if there is an `update`, called for new ids only. */
  set(id: string, data: object, ttlSeconds: number): Awaitable<void>
  /**
   * Sets the data of an id in one step if it has data that has not expired, and does nothing otherwise; resolves with
   * whether it had any.
   */
  update?(id: string, data: object, ttlSeconds: number): Awaitable<boolean>
  /** Removes a session; a missing one is not an error. If there is an `update`, must return whether the session existed. */
  destroy(id: string): Awaitable<boolean | void>
  /** Restarts the seconds and keeps the data; returns `false` for a missing session. Without this method, `rolling` reads and updates. */
  touch?(id: string, ttlSeconds: number): Awaitable<boolean | void>
}

/** A store that knows whether a session existed, and never writes one that has ended. */
export type ExactStore = SessionStore & Required<Pick<SessionStore, 'update'>>

/** A store as the plugin uses it: data is the text of a JSON object, which no other request can change. */
export interface TextStore {
  /** Whether only this process writes to the store, so that all its strings come from here. */
  readonly isPrivate?: boolean
  get(id: string): Awaitable<string | undefined | null>
  set(id: string, text: string, ttlSeconds: number): Awaitable<void>
  update(id: string, text: string, ttlSeconds: number): Awaitable<boolean>
  destroy(id: string): Awaitable<boolean | void>
  touch?(id: string, ttlSeconds: number): Awaitable<boolean | void>
}

/** A store with a name for messages. */
export interface NamedStore {
  readonly name: string
  readonly store: TextStore
}

/** The stores by the services of their scope, for the inspector. */
export const storesOfScopes = new WeakMap<object, TextStore>()

export const SessionStoreError = defineError(
  'SessionStoreError',
  503,
  (name: string, what: string) => `the session store "${name}" ${what}. Try again later`,
)

/** Milliseconds after which a store counts as failed: a request must not hang for one that does not answer. */
export const deadline = 2_000

/** Whether a value can be the data of a session. */
export const isData = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A store with a timeout, all of whose failures become one kind of error, logged once per change of state. */
export class GuardedStore {
  readonly isPrivate: boolean
  readonly #name: string
  readonly #store: TextStore
  readonly #log: Logger
  /** What failed first, for the line in the log. */
  #what = ''
  readonly #availability = new Availability((isDown, error) => {
    const store = this.#name
    if (isDown) this.#log.error({ err: error, store }, `the session store "${store}" ${this.#what}`)
    else this.#log.warn({ store }, `the session store "${store}" works again`)
  })

  constructor({ name, store }: NamedStore, log: Logger) {
    this.#name = name
    this.#store = store
    this.isPrivate = store.isPrivate === true
    this.#log = log
  }

  /** Returns the data of a session as a string, `undefined` for a missing session. */
  get(id: string): Awaitable<string | undefined> {
    const found = this.#guard('cannot be read', () => this.#store.get(id))
    return found instanceof Promise ? found.then((text) => text ?? undefined) : (found ?? undefined)
  }

  /** Parses the data in a string of the store, which other programs may have written. */
  parse(text: string): object {
    try {
      const data: unknown = JSON.parse(text)
      if (isData(data)) return data
    } catch (error) {
      throw this.#failure('cannot be read', error)
    }
    throw this.#failure('cannot be read', new TypeError('it holds JSON that is not an object'))
  }

  /** Stores the data of a new id. */
  set(id: string, text: string, ttl: number): Awaitable<void> {
    return this.#guard('cannot be written', () => this.#store.set(id, text, ttl))
  }

  /** Updates the data; returns whether the session still existed. */
  async update(id: string, text: string, ttl: number): Promise<boolean> {
    const what = 'cannot be written'
    const updated = await this.#guard(what, () => this.#store.update(id, text, ttl))
    return this.#answerOf('update', what, updated)
  }

  /** Removes a session; returns whether there was one. */
  async destroy(id: string): Promise<boolean> {
    const what = 'cannot delete a session'
    const destroyed = await this.#guard(what, () => this.#store.destroy(id))
    return this.#answerOf('destroy', what, destroyed)
  }

  async touch(id: string, ttl: number): Promise<boolean> {
    if (this.#store.touch !== undefined) {
      return (await this.#guard('cannot be written', () => this.#store.touch!(id, ttl))) !== false
    }
    // Not with the data that this request has read: another request may have written since.
    const text = await this.get(id)
    return text !== undefined && this.update(id, text, ttl)
  }

  /** Refuses a missing result, which would mean an ended session in one method and a live one in another. */
  #answerOf(method: string, what: string, answer: unknown): boolean {
    if (typeof answer === 'boolean') return answer
    throw this.#failure(what, new TypeError(`${method}() returned ${answer}, not whether the session existed`))
  }

  /** Calls the store, with the timeout; stays synchronous for a synchronous store. */
  #guard<T>(what: string, call: () => Awaitable<T>): Awaitable<T> {
    let result: Awaitable<T>
    try {
      result = call()
    } catch (error) {
      throw this.#failure(what, error)
    }
    if (typeof (result as PromiseLike<T> | undefined)?.then !== 'function') return this.#works(result as T)
    return answerWithin(Promise.resolve(result), deadline).then(
      (value) => this.#works(value),
      (error: unknown) => {
        throw this.#failure(what, error)
      },
    )
  }

  #works<T>(value: T): T {
    this.#availability.works()
    return value
  }

  #failure(what: string, cause: unknown): Error {
    const error = Object.assign(SessionStoreError(this.#name, what), { cause })
    this.#what = what
    this.#availability.fails(cause)
    return error
  }
}
