import { type Logger, systemClock } from '../../kernel/index.ts'
import { Availability } from '../shared/stores/availability.ts'
import type { Listening, OpenDriver } from './drivers/contract.ts'

/** The channel of all outboxes of a database; a notification names the sender whose messages have been committed. */
export const channel = 'framework_outbox'

/** One connection that hears of messages that other processes have committed. While there is none, they are found by looking. */
export class Listener {
  readonly #ending = new AbortController()
  readonly #listen: () => Promise<Listening>
  readonly #onOpen: () => void
  readonly #availability: Availability
  readonly #running: Promise<void>
  #current: Listening | undefined

  /** `onOpen`: called whenever it listens, because nobody has told it what was committed before. */
  constructor(
    listen: NonNullable<OpenDriver['listen']>,
    onMessage: (sender: string) => void,
    onOpen: () => void,
    log: Logger,
  ) {
    this.#listen = () => listen(channel, onMessage)
    this.#onOpen = onOpen
    this.#availability = new Availability((isDown, error) => {
      if (isDown) log.warn({ err: error }, 'the outbox is not told of messages of other processes, and looks for them')
      else log.warn('the outbox is told of messages of other processes again')
    })
    this.#running = this.#run()
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.#ending.abort()
    await this.#current?.end()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        this.#current = await this.#listen()
        if (signal.aborted) return await this.#current.end()
        this.#availability.works()
        this.#onOpen()
        throw await this.#current.lost
      } catch (error) {
        this.#current = undefined
        if (signal.aborted) return
        this.#availability.fails(error)
        // All processes lose theirs when Postgres restarts, and must not come back together.
        await systemClock.sleep(100 + Math.random() * 900, signal).catch(() => {})
      }
    }
  }
}
