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
    // Not the last one in its place, if it is called a second time.
    if (wrappers.includes(one)) wrappers.splice(wrappers.indexOf(one), 1)
  }
}

/** Calls the work within the wrapper. A tool that fails must not make the work fail or happen twice. */
function wrapped<Result>(wrap: WrapWork<never>, event: object, work: () => Result): Result {
  let done: ReturnType<typeof outcomeOf<Result>> | undefined
  const once = () => {
    done ??= outcomeOf(work)
  }
  try {
    wrap(event as never, once)
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
  const { result, thrown } = done ?? outcomeOf(work)
  if (thrown !== undefined) throw thrown.error
  return result as Result
}

function outcomeOf<Result>(work: () => Result): { result?: Result; thrown?: { error: unknown } } {
  try {
    return { result: work() }
  } catch (error) {
    return { thrown: { error } }
  }
}
