import { option } from '../options/index.ts'

/** The options of a call that stops a service: milliseconds that running work has to finish. */
export const stopOptions = option.shape({ timeout: option.ms().default(10_000) })

/** One call of a handler while it runs; in progress in `running` until it ends. */
export class Call {
  readonly #running: Running | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined
  #place = -1

  constructor(running?: Running) {
    this.#running = running
    if (running !== undefined) this.#place = running.add(this)
  }

  /** Aborts when the handler should end. Created when it is first read, as a controller costs more than a message in memory. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** Aborts the signal, once. */
  abort(reason: Error): void {
    this.#reason ??= reason
    this.#controller?.abort(reason)
  }

  /** Whether it is in progress in `running`. */
  get isRunning(): boolean {
    return this.#place !== -1
  }

  /** Ends the call; a second time does nothing. */
  end(): void {
    const place = this.#place
    if (place === -1) return
    this.#place = -1
    const moved = this.#running!.take(place)
    if (moved !== this) moved.#place = place
  }
}

/** The calls of handlers that are in progress: closing waits for them, and in the end no longer. */
export class Running {
  /** By their places: a set would take longer, and the order is of no use. */
  readonly #calls: Call[] = []
  readonly #waiting: (() => void)[] = []
  readonly #shared: Running | undefined
  #count = 0

  /** Its calls are in progress in `shared` as well. */
  constructor(shared?: Running) {
    this.#shared = shared
  }

  get count(): number {
    return this.#count
  }

  /** Returns the place of the call. */
  add(call: Call): number {
    for (let one: Running | undefined = this; one !== undefined; one = one.#shared) one.#count++
    return this.#calls.push(call) - 1
  }

  /** Removes the call at a place; returns the one that is moved there, the last one. */
  take(place: number): Call {
    const last = this.#calls.pop()!
    if (place < this.#calls.length) this.#calls[place] = last
    for (let one: Running | undefined = this; one !== undefined; one = one.#shared)
      if (--one.#count === 0) for (const goOn of one.#waiting.splice(0)) goOn()
    return last
  }

  /** Calls the function when no call is in progress: immediately, or when the last one ends. */
  whenIdle(goOn: () => void): void {
    if (this.#count === 0) goOn()
    else this.#waiting.push(goOn)
  }

  /** Resolves when no call is in progress. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.whenIdle(resolve))
  }

  /** Aborts the signals of the calls in progress. */
  abort(reason: Error): void {
    for (const call of [...this.#calls]) call.abort(reason)
  }

  /** Treats the calls in progress as ended, after their signals: closing has waited for them long enough. */
  abandon(reason: Error): void {
    this.abort(reason)
    for (const call of [...this.#calls]) call.end()
  }
}
