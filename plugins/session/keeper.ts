import { isPromise, type Logger } from '../../kernel/index.ts'
import { Availability, answerWithin } from '../shared/stores/availability.ts'
import { isObject } from '../shared/values/json.ts'
import { type Awaitable, deadline, type NamedStore, SessionStoreError } from './stores/contract.ts'

/** How sessions are kept. */
interface KeeperSettings extends NamedStore {
  readonly ttl: number
  readonly rolling: boolean
  readonly log: Logger
  /** Ends the connections of a session that has ended. */
  ended(id: string): Promise<void>
}

/**
 * Keeps sessions in a store until they expire. Calls have a timeout, and all failures become one kind of error, logged once per change
 * of state.
 */
export class SessionKeeper {
  readonly settings: KeeperSettings
  /** What failed first, for the line in the log. */
  #what = ''
  readonly #availability = new Availability((isDown, error) => {
    const { name: store, log } = this.settings
    if (isDown) log.error({ err: error, store }, `the session store "${store}" ${this.#what}`)
    else log.warn({ store }, `the session store "${store}" works again`)
  })

  constructor(settings: KeeperSettings) {
    this.settings = settings
  }

  /** Returns the data of a session as a string, `undefined` for a missing session. */
  load(id: string): Awaitable<string | undefined> {
    const found = this.#guard('cannot be read', () => this.settings.store.get(id))
    return found instanceof Promise ? found.then((text) => text ?? undefined) : (found ?? undefined)
  }

  /** Parses the data in a string of the store, which other programs may have written. */
  parse(text: string): object {
    try {
      const data: unknown = JSON.parse(text)
      if (isObject(data)) return data
    } catch (error) {
      throw this.#failure('cannot be read', error)
    }
    throw this.#failure('cannot be read', new TypeError('it holds JSON that is not an object'))
  }

  /** Stores the data of a new id. */
  async create(id: string, text: string): Promise<void> {
    await this.#guard('cannot be written', () => this.settings.store.set(id, text, this.settings.ttl))
  }

  /** Updates the data; returns whether the session still existed. */
  async update(id: string, text: string): Promise<boolean> {
    const what = 'cannot be written'
    const updated = await this.#guard(what, () => this.settings.store.update(id, text, this.settings.ttl))
    return this.#existed('update', what, updated)
  }

  /** Removes a session; returns whether there was one. */
  async destroy(id: string): Promise<boolean> {
    const what = 'cannot delete a session'
    const destroyed = await this.#guard(what, () => this.settings.store.destroy(id))
    // Its failure is in the log: the session has ended.
    await this.settings.ended(id).catch(() => {})
    return this.#existed('destroy', what, destroyed)
  }

  /** Restarts its seconds; returns whether the session still existed. */
  async touch(id: string): Promise<boolean> {
    const { store, ttl } = this.settings
    if (store.touch !== undefined)
      return (await this.#guard('cannot be written', () => store.touch!(id, ttl))) !== false
    // Not with the data that this request has read: another request may have written since.
    const text = await this.load(id)
    return text !== undefined && this.update(id, text)
  }

  /** Refuses a missing result, which would mean an ended session in one method and a live one in another. */
  #existed(method: string, what: string, existed: unknown): boolean {
    if (typeof existed === 'boolean') return existed
    throw this.#failure(what, new TypeError(`${method}() returned ${existed}, not whether the session existed`))
  }

  /** Calls the store, with the timeout; stays synchronous for a synchronous store. */
  #guard<T>(what: string, call: () => Awaitable<T>): Awaitable<T> {
    let result: Awaitable<T>
    try {
      result = call()
    } catch (error) {
      throw this.#failure(what, error)
    }
    if (!isPromise(result)) return this.#works(result)
    const promise = Promise.resolve(result)
    const answer = this.settings.store.hasDeadline ? promise : answerWithin(promise, deadline)
    return answer.then(
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
    const error = Object.assign(SessionStoreError(this.settings.name, what), { cause })
    this.#what = what
    this.#availability.fails(cause)
    return error
  }
}
