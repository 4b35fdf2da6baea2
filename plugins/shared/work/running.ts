import { option } from '../options/index.ts'

/** The options of a call that stops a service: milliseconds that running work has to finish. */
export const stopOptions = option.shape({ timeout: option.ms().default(10_000) })

/** One call of a handler while it runs. */
export class Call {
  readonly #end: ((call: Call) => void) | undefined
  #controller: AbortController | undefined
  #aborted: { readonly reason: Error } | undefined

  constructor(end?: (call: Call) => void) {
    this.#end = end
  }

  /** Aborts when the handler should end. Created when it is first read, as a controller costs more than a message in memory. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason)
    }
    return this.#controller.signal
  }

  /** Aborts the signal, once. */
  abort(reason: Error): void {
    this.#aborted ??= { reason }
    this.#controller?.abort(reason)
  }

  /** Ends the call; a second time does nothing. */
  end(): void {
    this.#end?.(this)
  }
}

/** The calls of handlers that are in progress: closing waits for them, and in the end no longer. */
export class Running {
  readonly #calls = new Map<Call, Call | undefined>()
  readonly #waiting: (() => void)[] = []
  readonly #end = (call: Call) => {
    this.#calls.get(call)?.end()
    if (this.#calls.delete(call) && this.#calls.size === 0) for (const goOn of this.#waiting.splice(0)) goOn()
  }

  get count(): number {
    return this.#calls.size
  }

  /** Begins a call, which is in progress in `shared` as well. */
  begin(shared?: Running): Call {
    const call = new Call(this.#end)
    this.#calls.set(call, shared?.begin())
    return call
  }

  /** Calls the function when no call is in progress: immediately, or when the last one ends. */
  whenIdle(goOn: () => void): void {
    if (this.#calls.size === 0) goOn()
    else this.#waiting.push(goOn)
  }

  /** Resolves when no call is in progress. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.whenIdle(resolve))
  }

  /** Aborts the signals of the calls in progress. */
  abort(reason: Error): void {
    for (const call of this.#calls.keys()) call.abort(reason)
  }

  /** Treats the calls in progress as ended, after their signals: closing has waited for them long enough. */
  abandon(reason: Error): void {
    this.abort(reason)
    for (const call of [...this.#calls.keys()]) call.end()
  }
}
