import { Breaker } from '../../toolkit/breaker.ts'
import { StoreDown } from './contract.ts'
import type { RedisClient } from './redis-client.ts'

/** Milliseconds between two attempts to reach a Redis that did not answer. */
const restMs = 500

/**
 * Knows whether Redis answers. While it does not, no command is sent: otherwise every request for a cached answer would first have
 * to wait for a timeout.
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
    // Without a listener, an error would end the process; every failed command reports its own reason.
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

  /** Runs an action once Redis answers again; for commands that may have been executed although their replies were lost. */
  whenUp(action: () => unknown): void {
    this.#breaker.whenClosed(action)
  }

  stop(): void {
    this.#breaker.stop()
  }

  /** Redis replied with an error, such as out of memory: reported once a minute at most; commands continue to be sent. */
  #refused(error: unknown): void {
    if (performance.now() - this.#refusedAt < 60_000) return
    this.#refusedAt = performance.now()
    this.#onChange('refused', error)
  }
}
