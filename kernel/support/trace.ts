import { channel, tracingChannel } from 'node:diagnostics_channel'
import { isPromise } from './within.ts'

/** The members that an event has once its work has failed. */
export interface TraceOutcome {
  /** The error that the work failed with; absent while it runs and when it has succeeded. */
  error?: unknown
}

/** Functions that do work in a context of their own: exactly once, whatever happens in them. */
type Wrapper = <Result>(event: object, work: () => Result) => Result

/** The wrappers of the process, the outermost first, and not of this module: an application may have loaded two copies of it. */
export function wrappersOf(kind: string): Wrapper[] {
  const key = Symbol.for(`framework.trace.wrappers.${kind}`)
  const shared = globalThis as { [key: symbol]: Wrapper[] | undefined }
  shared[key] ??= []
  return shared[key]
}

/**
 * Work of one kind that tools can follow: a tracing channel of `node:diagnostics_channel`, `tracing:framework:<kind>:start` and so on.
 *
 * `start` is published before the work, and stores bound to it apply to the work and to everything that follows from it. `asyncEnd` is
 * published once, when the work is done, even if it was synchronous; if the work has failed, `error` comes first. All of them publish the
 * same event, so that a subscriber can keep its own data in it.
 *
 * @example
 * const exports = new Trace<{ file: string }>('audit.export')
 * await exports.run(
 *   () => ({ file: 'reports/2026.csv' }),
 *   async () => console.log('writing'),
 * )
 */
export class Trace<Event extends object> {
  readonly #channel
  readonly #wrappers: readonly Wrapper[]

  constructor(kind: string) {
    this.#channel = tracingChannel<unknown, Event>(`framework:${kind}`)
    this.#wrappers = wrappersOf(kind)
  }

  /** Whether there is a subscriber. Without one, nothing is created and nothing is called. */
  get isOn(): boolean {
    return this.#wrappers.length > 0 || this.#channel.start.hasSubscribers || this.isEndOn
  }

  /** Whether there is a subscriber to how work ends. */
  get isEndOn(): boolean {
    const { end, asyncStart, asyncEnd, error } = this.#channel
    return asyncEnd.hasSubscribers || error.hasSubscribers || asyncStart.hasSubscribers || end.hasSubscribers
  }

  /** Begins work whose end is reported with `end`. */
  begin<Result>(event: Event, work: () => Result): Result {
    const { start, end } = this.#channel
    try {
      const all = this.#wrappers.reduceRight((inner, wrap) => () => wrap(event, inner), work)
      return start.runStores(event, all)
    } finally {
      end.publish(event)
    }
  }

  /** Reports the end of work that `begin` has begun, once; if the work has failed, the event has an `error`. */
  end(event: Event & TraceOutcome): void {
    const { asyncStart, asyncEnd, error } = this.#channel
    if ('error' in event) error.publish(event as never)
    asyncStart.publish(event as never)
    asyncEnd.publish(event as never)
  }

  /** Does the work, which receives the event if there is a subscriber, and reports its end. Returns the result of the work. */
  run<Result>(event: () => Event, work: (event?: Event) => Result): Result {
    if (!this.isOn) return work()
    const one: Event & TraceOutcome = event()
    const fail = (error: unknown) => {
      one.error = error
      this.end(one)
    }
    let result: Result
    try {
      result = this.begin(one, () => work(one))
    } catch (error) {
      fail(error)
      throw error
    }
    if (!isPromise(result)) {
      this.end(one)
      return result
    }
    // For a promise of another kind, only the caller awaits the new one: some libraries start their work with each `then`.
    const promise = Promise.resolve(result)
    promise.then(() => this.end(one), fail)
    return promise as Result
  }
}

/** A declaration: of background work, before it runs anywhere, or of a handler of requests. */
export type DeclarationTrace = {
  /** What was declared. A subscriber may put another handler in place of its `handler`. */
  readonly declared: object
}

/**
 * An event without a duration: a channel of `node:diagnostics_channel`, called `framework:<kind>`.
 *
 * @example
 * const hits = new TracePoint<{ key: string }>('audit.hit')
 * if (hits.isOn) hits.publish({ key: 'users/7' })
 */
export class TracePoint<Event extends object> {
  readonly #channel

  constructor(kind: string) {
    this.#channel = channel(`framework:${kind}`)
  }

  /** Whether there is a subscriber; check it before creating an event that costs something. */
  get isOn(): boolean {
    return this.#channel.hasSubscribers
  }

  /** Passes the event to the subscribers. */
  publish(event: Event): void {
    this.#channel.publish(event)
  }

  /** The same before work, which runs in the stores that are bound to the channel; returns its result. */
  run<Result>(event: Event, work: () => Result): Result {
    return this.#channel.runStores(event, work)
  }
}

/**
 * Reports each declaration, before what is declared runs anywhere.
 *
 * @example
 * if (declarationPoint.isOn) declarationPoint.publish({ declared: { handler: () => {} } })
 */
export const declarationPoint = new TracePoint<DeclarationTrace>('declaration')
