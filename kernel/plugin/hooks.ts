import type { Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import type { Route } from '../routing/route.ts'
import type { Address } from '../runtime/adapter.ts'

/**
 * A thrown value, unchanged. It is nearly always an `Error`, so it is typed as one; code that checks first can treat it as
 * `unknown`. Errors of the framework have `code` and `status`.
 */
export type Thrown = Error & { readonly code?: unknown; readonly status?: unknown }

/** Handles a failure, see `setErrorHandler`. A value it returns is sent; if it does not answer, the response is an empty 500. */
export type ErrorHandler = {
  // The type of a method, because a handler may also declare the class of the errors that it knows.
  handle(req: Request, res: Response, next: (error?: unknown) => void, error: Thrown): unknown
}['handle']

/** The signatures of the hooks, by name. */
export interface HookTypes {
  /** Runs when a route is compiled, to read its options and to add steps to its slots. Synchronous. */
  onRoute: (route: Route) => void
  /** Runs when the boot has finished, before the first request, also without a socket. */
  onReady: () => void | Promise<void>
  /** Runs when the socket is bound, to start jobs, workers and subscriptions. Never called under `inject`. */
  onListen: (address: Address) => void | Promise<void>
  /**
   * Runs after the listen hooks, for work that only one of several workers may do: immediately in a single process, in a worker
   * when it takes over. A hook that fails after a takeover is called again.
   */
  onLead: () => void | Promise<void>
  /**
   * Runs when `server.closing` aborts, alongside the requests in progress: to take nothing new and to finish what has begun. Settles when
   * that is done. All of them are called at once, in reverse order of registration.
   */
  onDrain: () => void | Promise<void>
  /** Runs on close, to stop, flush and disconnect; in reverse order of registration. It should finish within `timeLeft` milliseconds. */
  onClose: (timeLeft: number) => void | Promise<void>
  /** Runs before the response is encoded. An error here is a failure like that of a handler: its response replaces the original one. */
  onSend: (req: Request, res: Response) => void | Promise<void>
  /** Runs after the response has left, with the milliseconds it took. An error here is only logged. */
  onResponse: (req: Request, res: Response, ms: number) => void | Promise<void>
  /** Runs for every failure, answered or not. An error here is only logged. */
  onError: { handle(error: Thrown, req: Request, res: Response): void | Promise<void> }['handle']
  /** Calls `work`, once and at once, and returns its result: what comes after the chain of a request, which is outside of contexts that a middleware has entered. */
  onLate: <Result>(req: Request, work: () => Result) => Result
}

/** The name of a hook of a plugin: `onSend`. */
export type HookName = keyof HookTypes

/** The hooks of the server's life, which run in order of registration over the whole tree; the others reach routes by scope. */
export const lifeCycleHooks = ['onReady', 'onListen', 'onLead', 'onDrain', 'onClose'] as const
export type LifeCycleHookName = (typeof lifeCycleHooks)[number]
export const hookNames = [...lifeCycleHooks, 'onRoute', 'onSend', 'onResponse', 'onError', 'onLate'] as const

/** A list without hooks for each of the names. */
export const listsFor = <Name extends HookName>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, never[]>
