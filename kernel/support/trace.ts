import { channel, tracingChannel } from 'node:diagnostics_channel'
import { isPromise } from './within.ts'

/** What the event of a piece of work has once the work has failed. */
export interface TraceOutcome {
  error?: unknown
}

/**
 * Work of one kind that others may follow: a tracing channel of `node:diagnostics_channel`, called `tracing:framework:<kind>:start` and so on.
 *
 * `start` is published before the work, and stores that are bound to it hold in the work and in all that follows from it. `asyncEnd` is published
 * once, when the work is done, also where it was synchronous; `error` before it where the work has failed. All of them have the same event, so
 * that a subscriber can keep what it needs there.
 */
export class Trace<Event extends object> {
  readonly #channel

  constructor(kind: string) {
    this.#channel = tracingChannel<unknown, Event>(`framework:${kind}`)
  }

  /** Whether anyone follows. Without it nothing is made and nothing is called. */
  get isOn(): boolean {
    const { start, end, asyncEnd, error } = this.#channel
    return start.hasSubscribers || asyncEnd.hasSubscribers || error.hasSubscribers || end.hasSubscribers
  }

  /** Begins work whose end is reported with `end`. */
  begin<Result>(event: Event, work: () => Result): Result {
    const { start, end } = this.#channel
    try {
      return start.runStores(event, work)
    } finally {
      end.publish(event)
    }
  }

  end(event: Event & TraceOutcome): void {
    const { asyncStart, asyncEnd, error } = this.#channel
    if ('error' in event) error.publish(event as never)
    asyncStart.publish(event as never)
    asyncEnd.publish(event as never)
  }

  /** Does the work, and reports its end. What it returns is what the work returns. */
  run<Result>(event: () => Event, work: () => Result): Result {
    if (!this.isOn) return work()
    const one: Event & TraceOutcome = event()
    const fail = (error: unknown) => {
      one.error = error
      this.end(one)
    }
    let result: Result
    try {
      result = this.begin(one, work)
    } catch (error) {
      fail(error)
      throw error
    }
    if (result instanceof Promise) result.then(() => this.end(one), fail)
    // Waited for by whoever receives it: some libraries begin their work with each `then`.
    else if (!isPromise(result)) this.end(one)
    else return followed(result, () => this.end(one), fail) as Result
    return result
  }
}

function followed(thenable: PromiseLike<unknown>, done: () => void, fail: (error: unknown) => void): Promise<unknown> {
  const promise = Promise.resolve(thenable)
  promise.then(done, fail)
  return promise
}

/** Something that happens in one moment: a channel of `node:diagnostics_channel`, called `framework:<kind>`. */
export class TracePoint<Event extends object> {
  readonly #channel

  constructor(kind: string) {
    this.#channel = channel(`framework:${kind}`)
  }

  get isOn(): boolean {
    return this.#channel.hasSubscribers
  }

  publish(event: Event): void {
    this.#channel.publish(event)
  }
}
