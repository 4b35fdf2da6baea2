import { wrappersOf } from '../../../kernel/support/trace.ts'

export { whenOver } from '../../../kernel/pipeline/traces.ts'

/**
 * Enters a context and does the work of an event in it, by calling `work`. The work is done exactly once, even if a wrapper throws or
 * does not call it, and its result does not pass through the wrapper.
 */
export type WrapWork<Event extends object = object> = (event: Event, work: () => void) => void

/**
 * Enters a context around all work of a kind from now on, for tools whose contexts are entered by a call; returns a function that ends
 * this. `start` is published before the wrapper runs. The wrapper that was added first is the outermost.
 *
 * @example
 * const end = wrapWork<RequestTrace>('request', ({ request }, work) => console.group(request.path) ?? work())
 */
export function wrapWork<Event extends object>(kind: string, wrap: WrapWork<Event>): () => void {
  const wrappers = wrappersOf(kind)
  const one = <Result>(event: object, work: () => Result) => wrapped(wrap, event, work)
  wrappers.push(one)
  return () => {
    const i = wrappers.indexOf(one)
    if (i >= 0) wrappers.splice(i, 1)
  }
}

/** Calls the work within the wrapper. A tool that fails must not make the work fail or happen twice. */
function wrapped<Result>(wrap: WrapWork<never>, event: object, work: () => Result): Result {
  let isBegun = false
  let hasFailed = false
  let outcome: unknown
  const once = () => {
    if (isBegun) return
    isBegun = true
    try {
      outcome = work()
    } catch (thrown) {
      hasFailed = true
      outcome = thrown
    }
  }
  try {
    wrap(event as never, once)
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
  once()
  if (hasFailed) throw outcome
  return outcome as Result
}
