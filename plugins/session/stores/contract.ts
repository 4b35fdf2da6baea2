import { defineError, type Logger } from '../../../kernel/index.ts'
import { Availability, answerWithin } from '../../toolkit/availability.ts'

type Awaitable<T> = T | Promise<T>

/**
 * Where sessions are kept: three methods, and two that a store should have.
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
  /** Keeps data under an id for so many seconds; with `update` it is asked for new ids only. */
  set(id: string, data: object, ttlSeconds: number): Awaitable<void>
  /**
   * Sets the data of an id in one step, where it has data that have not expired, and does nothing otherwise; resolves with
   * whether it had.
   */
  update?(id: string, data: object, ttlSeconds: number): Awaitable<boolean>
  /** Forgets a session; one that is not there is fine. With `update` it resolves with whether it was there. */
  destroy(id: string): Awaitable<boolean | void>
  /** Begins the seconds anew and leaves the data alone, `false` where there is none; without it `rolling` reads and updates. */
  touch?(id: string, ttlSeconds: number): Awaitable<boolean | void>
}

/** A store that knows whether a session was there, and writes none that has ended. */
export type ExactStore = SessionStore & Required<Pick<SessionStore, 'update'>>

/** A store as the plugin asks it: data is the text of a JSON object, which no request can change under another. */
export interface TextStore {
  /** Whether no one else can write to it, so that each text is one that it was given. */
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

/** Whether something is what a session holds. */
export const isData = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A store whose every failure is one error, with a bound on the time, logged once per change of state. */
export class GuardedStore {
  readonly isPrivate: boolean
  readonly #name: string
  readonly #store: TextStore
  readonly #log: Logger
  /** What failed first is in the line. */
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

  /** The data of a session as text, `undefined` when there is none. */
  get(id: string): Awaitable<string | undefined> {
    const found = this.#guard('cannot be read', () => this.#store.get(id))
    return found instanceof Promise ? found.then((text) => text ?? undefined) : (found ?? undefined)
  }

  /** The data in a text of the store, which others may have written. */
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

  /** Whether the session still was one, and has the data now. */
  async update(id: string, text: string, ttl: number): Promise<boolean> {
    const what = 'cannot be written'
    const updated = await this.#guard(what, () => this.#store.update(id, text, ttl))
    return this.#answerOf('update', what, updated)
  }

  /** Whether there was a session to forget. */
  async destroy(id: string): Promise<boolean> {
    const what = 'cannot delete a session'
    const destroyed = await this.#guard(what, () => this.#store.destroy(id))
    return this.#answerOf('destroy', what, destroyed)
  }

  async touch(id: string, ttl: number): Promise<boolean> {
    if (this.#store.touch !== undefined) {
      return (await this.#guard('cannot be written', () => this.#store.touch!(id, ttl))) !== false
    }
    // Not with what this request has read: another one may have written since.
    const text = await this.get(id)
    return text !== undefined && this.update(id, text, ttl)
  }

  /** Nothing in place of an answer would be a session that has ended for one, and one that has not for the other. */
  #answerOf(method: string, what: string, answer: unknown): boolean {
    if (typeof answer === 'boolean') return answer
    throw this.#failure(what, new TypeError(`${method}() returned ${answer} in place of whether the session existed`))
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
