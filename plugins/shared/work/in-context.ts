import { AsyncLocalStorage } from 'node:async_hooks'

/** Calls a function within the context that was kept, and returns its result. */
export type InContext = <Result>(call: () => Result) => Result

/** The same for work that no tool follows: calls the function in any context. */
export const inAnyContext: InContext = (call) => call()

/**
 * Keeps the context of the caller. The log line and the error handler of a failed attempt run after the tracing channel has reported the
 * end, so outside the attempt's context: the line that an operator looks for first would not lead to a trace.
 */
export const keepContext = (): InContext => AsyncLocalStorage.snapshot()
