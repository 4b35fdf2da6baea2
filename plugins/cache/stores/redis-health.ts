import { Breaker } from '../../toolkit/breaker.ts'
import { StoreDown } from './contract.ts'
import type { RedisClient } from './redis-client.ts'

/** How often a Redis that did not answer is tried again. */
const restMs = 500

/**
 * Knows whether Redis answers. While it does not, no command is sent: a request must not wait for a timeout for each answer
 * that could have come from the cache.
 */
export class RedisHealth {
  readonly #breaker: Breaker
  readonly #onChange: (state: 'up' | 'down' | 'refused', error?: unknown) => void
  #refusedAt = Number.NEGATIVE_INFINITY

  constructor(client: RedisClient, onChange: (state: 'up' | 'down' | 'refused', error?: unknown) => void) {
    this.#onChange = onChange
    this.#breaker = new Breaker({
      restMs,
      probe: () => client.ping(),
      onChange: (isDown, error) => onChange(isDown ? 'down' : 'up', error),
    })
    // Without a listener the process would end; every failed command reports its reason itself.
    client.on('error', () => {})
  }

  /** @throws StoreDown when Redis does not answer in time, or refuses. */
  async run<Result>(command: () => Promise<Result>): Promise<Result> {
    if (this.#breaker.isOpen) throw new StoreDown('the Redis of the cache does not answer')
    try {
      return await command()
    } catch (error) {
      if ((error as Error).name === 'ReplyError') this.#refused(error)
      else this.#breaker.failed(error)
      throw new StoreDown(`the Redis of the cache failed: ${(error as Error).message}`, { cause: error })
    }
  }

  /** Runs when Redis answers again; for commands that may have been executed although their answers were lost. */
  whenUp(action: () => unknown): void {
    this.#breaker.whenClosed(action)
  }

  stop(): void {
    this.#breaker.stop()
  }

  /** Redis answers with an error, out of memory for example: reported once a minute, tried again each time. */
  #refused(error: unknown): void {
    if (performance.now() - this.#refusedAt < 60_000) return
    this.#refusedAt = performance.now()
    this.#onChange('refused', error)
  }
}
