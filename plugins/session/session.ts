import { randomBytes } from 'node:crypto'
import { defineError } from '../../kernel/index.ts'
import type { SessionKeeper } from './keeper.ts'

/**
 * What sessions hold; each application merges its own members into this interface.
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

/** What a session can do; no member of its data: `Object.keys` and JSON do not show it. */
export interface SessionControls {
  /** Keeps the data under a new id and forgets the old one in the store: at login, so that nobody else knows the id. */
  regenerate(): Promise<void>
  /** Forgets the data, here and in the store, and the browser's cookie: at logout. */
  destroy(): Promise<void>
  /** Writes to the store now instead of when the answer leaves: before something else reads it, and while streaming. */
  save(): Promise<void>
}

/** `req.session`: the members of {@link SessionData}, none of which must be there, and three methods. */
export type Session = Partial<SessionData> & SessionControls

export const SessionDataError = defineError(
  'SessionDataError',
  500,
  (why: string) => `the session cannot be written as JSON: ${why}. Keep plain data in it`,
)

const empty = '{}'
const record = Symbol('record')
type WithRecord = { [record]: SessionRecord }

// Without a prototype of its own: a polluted `Object.prototype.user` must not log everybody in.
const controls: object = Object.create(null, {
  regenerate: method(function regenerate(this: WithRecord) {
    return this[record].regenerate()
  }),
  destroy: method(function destroy(this: WithRecord) {
    return this[record].destroy()
  }),
  save: method(function save(this: WithRecord) {
    return this[record].save()
  }),
})

/** Not writable, so that data under such a name is an error and not a session that cannot be destroyed. */
function method(value: (this: WithRecord) => Promise<void>): PropertyDescriptor {
  return { value }
}

/** What the answer does to the session cookie. */
export type CookieChange = 'keep' | 'set' | 'clear'

/** The session of one request: what was loaded, what became of it, and what must be written. */
export class SessionRecord {
  readonly #keeper: SessionKeeper
  #id: string | undefined
  #data: object | undefined
  /** The data as text, as the store has it; `undefined` where that is not known. */
  #stored: string | undefined = empty
  #session: (Session & WithRecord) | undefined
  #work: Promise<void> = Promise.resolve()
  #isWorking = false
  #cookie: CookieChange = 'keep'

  /** Without an id and data: nothing is stored yet. The id never comes from the client alone. */
  constructor(keeper: SessionKeeper, id?: string, data?: object) {
    this.#keeper = keeper
    this.#id = id
    this.#data = data
  }

  get id(): string | undefined {
    return this.#id
  }

  /** Whether the application has asked for the session. */
  get isRead(): boolean {
    return this.#session !== undefined
  }

  /** The object for the application, made when it is first asked for. */
  get session(): Session {
    if (this.#session === undefined) {
      const session = Object.create(controls, { [record]: { value: this } }) as Session & WithRecord
      if (this.#data !== undefined) {
        // A copy, since a store may hand out what it keeps.
        this.#stored = JSON.stringify(this.#data)
        Object.assign(session, JSON.parse(this.#stored))
      }
      this.#session = session
    }
    return this.#session
  }

  /** `undefined` while the request has changed nothing; for whoever must not give its answer to others. */
  get change(): string | undefined {
    if (this.#session === undefined) return undefined
    const text = this.#text()
    return text === this.#stored && this.#cookie === 'keep' ? undefined : `${this.#cookie} ${this.#id} ${text}`
  }

  save(): Promise<void> {
    return this.#inTurn(async () => void (await this.#write()))
  }

  regenerate(): Promise<void> {
    return this.#inTurn(() => this.#drop())
  }

  destroy(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#drop()
      for (const name of Object.keys(this.session)) Reflect.deleteProperty(this.session, name)
    })
  }

  /** Before the answer leaves: writes what has changed; tells what becomes of the cookie. Synchronous where nothing has. */
  finish(): CookieChange | Promise<CookieChange> {
    const rolls = this.#keeper.rolling && this.#id !== undefined
    if (this.#session === undefined) return rolls ? this.#finish() : 'keep'
    // Asked again when the body could not be written: the cookie went with that answer, and belongs to the next one too.
    return !rolls && !this.#isWorking && this.#text() === this.#stored ? this.#cookie : this.#finish()
  }

  async #finish(): Promise<CookieChange> {
    // What the application began and did not wait for.
    await this.#work
    const hadToWrite = this.#session !== undefined && (await this.#write())
    if (!hadToWrite && this.#keeper.rolling && this.#id !== undefined && this.#cookie === 'keep') {
      if (await this.#keeper.touch(this.#id)) this.#cookie = 'set'
    }
    return this.#cookie
  }

  #text(): string {
    try {
      return JSON.stringify(this.#session)
    } catch (error) {
      throw Object.assign(SessionDataError(error instanceof Error ? error.message : String(error)), { cause: error })
    }
  }

  /** Whether there was something to write. */
  async #write(): Promise<boolean> {
    const text = this.#text()
    if (text === this.#stored) return false
    const id = this.#id ?? newId()
    this.#stored = undefined
    const isKept = await this.#keeper.set(id, JSON.parse(text) as object)
    this.#stored = text
    if (isKept) {
      this.#id = id
      this.#cookie = 'set'
    }
    return true
  }

  async #drop(): Promise<void> {
    if (this.#id === undefined) return
    await this.#keeper.destroy(this.#id)
    this.#id = undefined
    this.#stored = empty
    this.#cookie = 'clear'
  }

  /** One after the other, whether or not the application waits in between. */
  #inTurn(run: () => Promise<void>): Promise<void> {
    const result = this.#work.then(run)
    this.#isWorking = true
    // The caller hears of a failure; nobody else may end the process with it.
    this.#work = result.catch(() => {})
    return result
  }
}

/** 192 bits from the system's generator. */
function newId(): string {
  return randomBytes(24).toString('base64url')
}

/** Whether a text may be an id of ours: what a store is asked for is never of another form. */
export function isId(text: string): boolean {
  return /^[\w-]{32}$/.test(text)
}
