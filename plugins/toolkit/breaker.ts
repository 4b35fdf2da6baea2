import { Availability } from './availability.ts'

/** When a store that failed is tried again, and what is called when its state changes. */
export interface BreakerOptions {
  /** Milliseconds between two attempts. */
  readonly restMs: number
  /** Checks whether the store answers again, independently of requests. Without it, the first caller after a rest tries. */
  probe?(): Promise<unknown>
  /** Called once for each change. */
  onChange?(isDown: boolean, error?: unknown): void
}

/**
 * Remembers that a store has failed, so that no other caller waits for the same timeout: while the breaker is
 * open, the store is not called.
 */
export class Breaker {
  readonly #options: BreakerOptions
  readonly #later = new Set<() => unknown>()
  readonly #availability: Availability
  #isStopped = false
  #restsUntil = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: BreakerOptions) {
    this.#options = options
    this.#availability = new Availability((isDown, error) => options.onChange?.(isDown, error))
  }

  get isOpen(): boolean {
    return this.#availability.isDown && (this.#options.probe !== undefined || performance.now() < this.#restsUntil)
  }

  worked(): void {
    if (!this.#availability.isDown) return
    this.#availability.works()
    for (const action of this.#later) action()
    this.#later.clear()
  }

  failed(error: unknown): void {
    // An earlier call may fail after the server has closed.
    if (this.#isStopped) return
    this.#restsUntil = performance.now() + this.#options.restMs
    if (this.#availability.isDown) return
    this.#availability.fails(error)
    this.#probeLater()
  }

  /** Runs an action when the store answers again; for calls that may have been executed although their answers were lost. */
  whenClosed(action: () => unknown): void {
    if (this.#later.size < 1000) this.#later.add(action)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #probeLater(): void {
    const { probe, restMs } = this.#options
    if (probe === undefined || this.#isStopped) return
    this.#timer = setTimeout(async () => {
      const answers = await probe().then(
        () => true,
        () => false,
      )
      if (this.#isStopped) return
      if (answers) this.worked()
      else this.#probeLater()
    }, restMs)
    this.#timer.unref?.()
  }
}
