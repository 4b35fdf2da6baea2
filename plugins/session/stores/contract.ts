import { defineError, type Logger } from '../../../kernel/index.ts'
import { Availability, answerWithin } from '../../toolkit/availability.ts'

type Awaitable<T> = T | Promise<T>

/**
 * A store of sessions: three methods, and two optional ones.
 *
 * Data is plain JSON and each object is the receiver's own. A failure is thrown; what takes longer than 2 seconds has failed.
 * An id that was destroyed never has data again: a slow request that had read it would log in again a user who has logged out.
 * `update` sees to that, in one step of the store. Without it a store is read before each write, and between the two another
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
  /** The data of a session; `undefined` or `null` when there is none of that id, or it has expired. */
  get(id: string): Awaitable<object | undefined | null>
  /** Keeps data under an id for this many seconds; with `update` it is called for new ids only. */
  set(id: string, data: object, ttlSeconds: number): Awaitable<void>
  /**
   * Sets the data of an id in one step, where it has data that have not expired, and does nothing otherwise; resolves with
   * whether it had.
   */
  update?(id: string, data: object, ttlSeconds: number): Awaitable<boolean>
  /** Removes a session; a missing one is not an error. With `update` it returns whether it existed. */
  destroy(id: string): Awaitable<boolean | void>
  /** Restarts the seconds and keeps the data, `false` where there is none; without it `rolling` reads and updates. */
  touch?(id: string, ttlSeconds: number): Awaitable<boolean | void>
}

/** A store that knows whether a session existed, and writes none that has ended. */
export type ExactStore = SessionStore & Required<Pick<SessionStore, 'update'>>

/** A store as the plugin uses it: data is the text of a JSON object, which no other request can change. */
export interface TextStore {
  /** Whether only this process writes to it, so that each string comes from here. */
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

/** By the services of the scope, for the inspector. */
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

/** A store whose every failure is one error, with a timeout, logged once per change of state. */
export class GuardedStore {
  readonly isPrivate: boolean
  readonly #name: string
  readonly #store: TextStore
  readonly #log: Logger
  /** The first failure is in the line. */
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

  /** The data of a session as a string, `undefined` when there is none. */
  get(id: string): Awaitable<string | undefined> {
    const found = this.#guard('cannot be read', () => this.#store.get(id))
    return found instanceof Promise ? found.then((text) => text ?? undefined) : (found ?? undefined)
  }

  /** The data in a string of the store, which other programs may have written. */
  parse(text: string): object {
    try {
      const data: unknown = JSON.parse(text)
      if (isData(data)) return data
    } catch (error) {
      throw this.#failure('cannot be read', error)
    }
    throw this.#failure('cannot be read', new TypeError('it holds JSON that is not an object'))
  }

  /** Keeps the data of a new id. */
  set(id: string, text: string, ttl: number): Awaitable<void> {
    return this.#guard('cannot be written', () => this.#store.set(id, text, ttl))
  }

  /** Whether the session still existed, and has the data now. */
  async update(id: string, text: string, ttl: number): Promise<boolean> {
    const what = 'cannot be written'
    const updated = await this.#guard(what, () => this.#store.update(id, text, ttl))
    return this.#answerOf('update', what, updated)
  }

  /** Whether there was a session to remove. */
  async destroy(id: string): Promise<boolean> {
    const what = 'cannot delete a session'
    const destroyed = await this.#guard(what, () => this.#store.destroy(id))
    return this.#answerOf('destroy', what, destroyed)
  }

  async touch(id: string, ttl: number): Promise<boolean> {
    if (this.#store.touch !== undefined) {
      return (await this.#guard('cannot be written', () => this.#store.touch!(id, ttl))) !== false
    }
    // Not with the data that this request has read: another one may have written since.
    const text = await this.get(id)
    return text !== undefined && this.update(id, text, ttl)
  }

  /** A missing result would mean an ended session in one method, and a live one in another. */
  #answerOf(method: string, what: string, answer: unknown): boolean {
    if (typeof answer === 'boolean') return answer
    throw this.#failure(what, new TypeError(`${method}() returned ${answer} in place of whether the session existed`))
  }

  /** Stays synchronous for a synchronous store. */
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
