import { defineErrors } from '../../../kernel/index.ts'

export type Awaitable<T> = T | Promise<T>

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
  /** Removes a session; a missing one is not an error. A store with an `update` must return whether the session existed. */
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
  /** Whether a call of it fails by itself that takes too long. */
  readonly hasDeadline?: boolean
  get(id: string): Awaitable<string | undefined | null>
  set(id: string, text: string, ttlSeconds: number): Awaitable<void>
  update(id: string, text: string, ttlSeconds: number): Awaitable<boolean>
  destroy(id: string): Awaitable<boolean | void>
  touch?(id: string, ttlSeconds: number): Awaitable<boolean | void>
  /** Releases what the plugin has opened. */
  close?(): void
}

/** A store with a name for messages. */
export interface NamedStore {
  readonly name: string
  readonly store: TextStore
}

/** The stores by the services of their scope, for the inspector. */
export const storesOfScopes = new WeakMap<object, TextStore>()

export const { SessionStoreError } = defineErrors({
  SessionStoreError: [503, (name: string, what: string) => `the session store "${name}" ${what}. Try again later`],
})

/** Milliseconds after which a store counts as failed: a request must not hang for one that does not respond. */
export const deadline = 2_000
