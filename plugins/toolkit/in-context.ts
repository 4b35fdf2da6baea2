import { AsyncLocalStorage } from 'node:async_hooks'

/** Calls a function within the context that it was made in, and returns its result. */
export type InContext = <Result>(call: () => Result) => Result

/** For work that no tool follows. */
export const inAnyContext: InContext = (call) => call()

/**
 * Keeps the context of the caller. What follows a failed attempt, its log line and the error handler, happens after the tracing channel has
 * reported the end, so outside of the attempt's context: the line that an operator looks for first would lead to no trace.
 */
export const keepContext = (): InContext => AsyncLocalStorage.snapshot()
