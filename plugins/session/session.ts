import { randomBytes } from 'node:crypto'
import { defineErrors } from '../../kernel/index.ts'
import { orFail } from '../shared/values/safely.ts'
import type { SessionKeeper } from './keeper.ts'

/**
 * The data of a session; applications merge their own members into this interface.
 *
 * @example
 * declare module 'framework' {
 *   interface SessionData {
 *     userName: string
 *   }
 * }
 * server.get('/name', (req) => req.session.userName ?? 'nobody')
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface SessionData {}

/** The methods of a session, which are not members of its data: `Object.keys` and JSON do not show them. */
export interface SessionControls {
  /**
   * Moves the data to a new id and removes the old one from the store. Call it at login, so that no attacker knows the id. Rejects
   * with a `SessionEndedError` if another request has ended the session meanwhile.
   */
  regenerate(): Promise<void>
  /** Removes the data, here and in the store, and the browser's cookie. Call it at logout. */
  destroy(): Promise<void>
  /**
   * Writes to the store now instead of when the response is sent: for other code that reads the store, and while streaming. Rejects
   * with a `SessionEndedError` if another request has ended the session meanwhile.
   */
  save(): Promise<void>
}

/** `req.session`: the members of {@link SessionData}, all optional, and three methods. */
export type Session = Partial<SessionData> & SessionControls

export const { SessionDataError, SessionEndedError } = defineErrors({
  SessionDataError: (why: string) => `the session cannot be written as JSON: ${why}. Keep plain data in it`,
  SessionEndedError: [
    409,
    () =>
      'the session ended during this request: another request logged out or renewed the session id, or the session expired. Send the request again',
  ],
})

const empty = '{}'

/** The object for the application. Its record is a private member: one that is only hidden took twice as long to make. */
class Data {
  readonly #record: SessionRecord

  constructor(record: SessionRecord) {
    this.#record = record
  }

  regenerate() {
    return this.#record.regenerate()
  }

  destroy() {
    return this.#record.destroy()
  }

  save() {
    return this.#record.save()
  }
}
Reflect.deleteProperty(Data.prototype, 'constructor')
// Frozen, so that data under the name of a method is an error and not a session that cannot be destroyed. Without another prototype: a polluted
// `Object.prototype.user` must not log every client in.
Object.freeze(Object.setPrototypeOf(Data.prototype, null))

/** A session from the store. */
export interface Loaded {
  readonly id: string
  readonly text: string
  readonly cookie: string | undefined
}

/** What the response does to the session cookie. */
export type CookieChange = 'keep' | 'set' | 'clear'

/** The session of one request: its loaded data, its changes, and its writes. */
export class SessionRecord {
  readonly keeper: SessionKeeper
  #id: string | undefined
  /** The data as it was loaded. */
  readonly #loaded: string | undefined
  /** The data as a string, as in the store; `undefined` if unknown. */
  #stored: string | undefined
  #session: Session | undefined
  #work: Promise<unknown> = Promise.resolve()
  #isWorking = false
  readonly #failed: { readonly call: Call; readonly error: unknown }[] = []
  #change: CookieChange = 'keep'
  /** The value of the cookie, if the request sent it with the signature that it would get now. */
  #cookie: string | undefined
  /** How many times the application has read data of this client. */
  #reads = 0

  /** Without `loaded`, nothing is stored yet. The id never comes from the client alone. */
  constructor(keeper: SessionKeeper, loaded?: Loaded) {
    this.keeper = keeper
    this.#id = loaded?.id
    this.#loaded = loaded?.text
    this.#cookie = loaded?.cookie
    this.#stored = loaded?.text ?? empty
  }

  get id(): string | undefined {
    return this.#id
  }

  /** The value of its cookie, `undefined` if the id must be signed. */
  get cookie(): string | undefined {
    return this.#cookie
  }

  /** Whether the application has read the session. */
  get isRead(): boolean {
    return this.#session !== undefined
  }

  /** The object for the application, created when it is first read. */
  get session(): Session {
    if (this.#session === undefined) {
      const session = new Data(this) as unknown as Session
      if (this.#loaded !== undefined) Object.assign(session, this.keeper.parse(this.#loaded))
      this.#session = session
    }
    return this.#session
  }

  /** The object for code that reads this client's data, which a middleware may have written before; counts the reading. */
  read(): Session {
    const { session } = this
    if (this.#loaded !== undefined || Object.keys(session).length > 0) this.#reads++
    return session
  }

  /**
   * `undefined` until the request changes or reads something, and a new value after each change or read; for code that must not share
   * its response with other clients.
   */
  get use(): string | undefined {
    if (this.#session === undefined) return undefined
    const text = this.#text()
    const isUntouched = this.#isStored(text) && this.#change === 'keep' && this.#reads === 0
    return isUntouched ? undefined : `${this.#reads} ${this.#change} ${this.#id} ${text}`
  }

  save(): Promise<void> {
    return this.#inTurn(async () => {
      if ((await this.#write()) === 'ended') throw SessionEndedError()
    })
  }

  regenerate(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#id === undefined) return
      // Otherwise the data of a session that has ended would live on under a new id.
      if (!(await this.keeper.destroy(this.#id))) throw SessionEndedError()
      this.#forget()
    })
  }

  destroy(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#id !== undefined) {
        await this.keeper.destroy(this.#id)
        this.#forget()
      }
      for (const name of Object.keys(this.session)) Reflect.deleteProperty(this.session, name)
    })
  }

  /** Writes changes before the response is sent; returns what happens to the cookie. Synchronous if there are no changes. */
  finish(): CookieChange | Promise<CookieChange> {
    const rolls = this.keeper.settings.rolling && this.#id !== undefined
    if (this.#session === undefined) return rolls ? this.#finish() : 'keep'
    // Called again if the body could not be written: the cookie was removed with that response, and must be set on the next one.
    return !rolls && !this.#isWorking && this.#isStored(this.#text()) ? this.#change : this.#finish()
  }

  async #finish(): Promise<CookieChange> {
    // Waits for calls that the application did not await; the response must report their failures.
    await this.#work
    const unheard = this.#failed.find(({ call }) => !call.isHeard)
    if (unheard !== undefined) throw unheard.error
    const written = this.#session === undefined ? 'same' : await this.#write()
    if (written === 'same' && this.keeper.settings.rolling && this.#id !== undefined && this.#change === 'keep') {
      if (await this.keeper.touch(this.#id)) this.#change = 'set'
    }
    return this.#change
  }

  #text(): string {
    return orFail(() => JSON.stringify(this.#session), SessionDataError)
  }

  /** Whether the store already has this. Another program may have written the same data with whitespace or other escapes. */
  #isStored(text: string): boolean {
    if (text === this.#stored) return true
    if (this.keeper.settings.store.isPrivate || this.#stored === undefined || this.#stored !== this.#loaded)
      return false
    this.#stored = JSON.stringify(JSON.parse(this.#loaded))
    return text === this.#stored
  }

  /** Writes the changes, to a session that has not ended since it was read. */
  async #write(): Promise<'same' | 'written' | 'ended'> {
    const text = this.#text()
    if (this.#isStored(text)) return 'same'
    // A new one has 192 bits from the system's generator.
    const id = this.#id ?? randomBytes(24).toString('base64url')
    this.#stored = undefined
    if (this.#id === undefined) await this.keeper.create(id, text)
    else if (!(await this.keeper.update(id, text))) {
      // Drops the cookie of an earlier save as well: the browser may have the one of a later login by now.
      this.#change = 'keep'
      return 'ended'
    }
    this.#stored = text
    this.#id = id
    this.#change = 'set'
    return 'written'
  }

  /** Forgets the session in the store, which no longer belongs to this request. */
  #forget(): void {
    this.#id = undefined
    this.#cookie = undefined
    this.#stored = empty
    this.#change = 'clear'
  }

  /** Runs calls one after the other, whether or not the application awaits them. */
  #inTurn(run: () => Promise<void>): Promise<void> {
    const call = new Call(this.#work.then(run))
    this.#isWorking = true
    this.#work = call.settled.catch((error: unknown) => {
      this.#failed.push({ call, error })
    })
    return call
  }
}

/**
 * The result of a session's method: a promise that knows whether its rejection is handled.
 *
 * Promises derived from it with `then` or `finally` reject as well: a handler there handles it, and without any handler the
 * response reports the failure. Otherwise a failed log-out would seem successful, and end the process as an unhandled rejection.
 */
class Call<Value = void> implements Promise<Value> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly settled: Promise<Value>
  readonly #first: Call<unknown> | undefined
  #isFollowed = false
  isHeard = false

  constructor(settled: Promise<Value>, first?: Call<unknown>) {
    this.settled = settled
    this.#first = first
  }

  // biome-ignore lint/suspicious/noThenProperty: it takes the place of a promise
  then<A = Value, B = never>(
    resolved?: ((value: Value) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    if (typeof rejected !== 'function') return this.#follow(this.settled.then(resolved))
    this.isHeard = true
    if (this.#first !== undefined) this.#first.isHeard = true
    return this.settled.then(resolved, rejected)
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Value | B> {
    return this.then(undefined, rejected)
  }

  finally(run?: (() => void) | null): Promise<Value> {
    return this.#follow(this.settled.finally(run))
  }

  #follow<Next>(settled: Promise<Next>): Call<Next> {
    this.#isFollowed = true
    const first = this.#first ?? this
    const next = new Call(settled, first)
    settled.catch(async (error: unknown) => {
      const own = await first.settled.catch((failure: unknown) => failure)
      // A failure of the callback itself is treated as with any promise.
      if (own !== error && !next.isHeard && !next.#isFollowed) throw error
    })
    return next
  }
}

/** Whether a string has the form of our ids: the store never receives any other string. */
export const isId = (text: string): boolean => /^[\w-]{32}$/.test(text)
