import { StoreDown } from './contract.ts'
import type { RedisClient } from './redis-client.ts'

/** How often a Redis that did not answer is asked again. */
const probeEvery = 500

/**
 * Knows whether Redis answers. While it does not, nothing is sent: a request must not pay a time-out for each answer it
 * could have had from the cache.
 */
export class RedisHealth {
  readonly #client: RedisClient
  readonly #onChange: (state: 'up' | 'down' | 'refused', error?: unknown) => void
  readonly #later = new Set<() => unknown>()
  #isDown = false
  #isStopped = false
  #refusedAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(client: RedisClient, onChange: (state: 'up' | 'down' | 'refused', error?: unknown) => void) {
    this.#client = client
    this.#onChange = onChange
    // Without a listener the process would end; every failed command tells its reason itself.
    client.on('error', () => {})
  }

  /** @throws StoreDown when Redis does not answer in time, or refuses. */
  async run<Result>(command: () => Promise<Result>): Promise<Result> {
    if (this.#isDown) throw new StoreDown('the Redis of the cache does not answer')
    try {
      return await command()
    } catch (error) {
      if ((error as Error).name === 'ReplyError') this.#refused(error)
      else this.#lost(error)
      throw new StoreDown(`the Redis of the cache failed: ${(error as Error).message}`, { cause: error })
    }
  }

  /** Runs when Redis answers again; for what may have been done although nobody heard of it. */
  whenUp(action: () => unknown): void {
    if (this.#later.size < 1000) this.#later.add(action)
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  /** It is there and says no, out of memory for example: told once a minute, asked again each time. */
  #refused(error: unknown): void {
    if (performance.now() - this.#refusedAt < 60_000) return
    this.#refusedAt = performance.now()
    this.#onChange('refused', error)
  }

  #lost(error: unknown): void {
    // A computation may end after the server has closed.
    if (this.#isDown || this.#isStopped) return
    this.#isDown = true
    this.#onChange('down', error)
    this.#timer = setInterval(() => void this.#probe(), probeEvery)
    this.#timer.unref?.()
  }

  async #probe(): Promise<void> {
    try {
      await this.#client.ping()
    } catch {
      return
    }
    if (!this.#isDown || this.#isStopped) return
    clearInterval(this.#timer)
    this.#isDown = false
    this.#onChange('up')
    for (const action of this.#later) action()
    this.#later.clear()
  }
}
