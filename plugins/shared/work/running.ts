import { option } from '../options/index.ts'

/** The options of a call that stops a service: milliseconds that running work has to finish. */
export const stopOptions = option.shape({ timeout: option.ms().default(10_000) })

/** One call of a handler while it runs; in progress in `running` until it ends. */
export class Call {
  #running: Running | undefined
  /** Its index in the calls of `running`: a set would cost a fiftieth of the time of a message in memory. */
  #at = 0
  #controller: AbortController | undefined
  #reason: Error | undefined

  constructor(running?: Running) {
    this.#running = running
    if (running === undefined) return
    this.#at = running.calls.push(this) - 1
    running.begin()
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

  /** Ends the call; a second time does nothing. */
  end(): void {
    const running = this.#running
    if (running === undefined) return
    this.#running = undefined
    const last = running.calls.pop()!
    last.#at = this.#at
    if (last !== this) running.calls[this.#at] = last
    running.end()
  }
}

/** The calls of handlers that are in progress: closing waits for them, up to its time limit. */
export class Running {
  /** In no order. Only a call adds and removes itself. */
  readonly calls: Call[] = []
  /** How many are in progress; only `begin` and `end` change it. */
  count = 0
  readonly #waiting: (() => void)[] = []
  readonly #shared: Running | undefined

  /** Its calls count in `shared` as well. */
  constructor(shared?: Running) {
    this.#shared = shared
  }

  begin(): void {
    this.count++
    this.#shared?.begin()
  }

  end(): void {
    this.#shared?.end()
    if (--this.count === 0) for (const goOn of this.#waiting.splice(0)) goOn()
  }

  /** Calls the function when no call is in progress: immediately, or when the last one ends. */
  whenIdle(goOn: () => void): void {
    if (this.count === 0) goOn()
    else this.#waiting.push(goOn)
  }

  /** Resolves when no call is in progress. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.whenIdle(resolve))
  }

  /** Aborts the signals of the calls in progress. */
  abort(reason: Error): void {
    for (const call of [...this.calls]) call.abort(reason)
  }

  /** Treats the calls in progress as ended, after their signals: closing has waited for them long enough. */
  abandon(reason: Error): void {
    this.abort(reason)
    for (const call of [...this.calls]) call.end()
  }
}
