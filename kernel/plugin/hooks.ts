import type { Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import type { Route } from '../routing/route.ts'
import type { Address } from '../runtime/adapter.ts'
import type { PluginEntry } from './scope.ts'

/**
 * What was thrown, as it is. Nearly always an `Error`, so it is typed as one; code that looks first takes it as
 * `unknown`. `code` and `status` are what errors of the framework have.
 */
export type Thrown = Error & { readonly code?: unknown; readonly status?: unknown }

/** Handles a failure: `setErrorHandler`. A returned value is sent; without an answer it is 500, empty. */
export type ErrorHandler = {
  // A method, because a handler may also name the class of the errors that it knows.
  handle(req: Request, res: Response, next: (error?: unknown) => void, error: Thrown): unknown
}['handle']

/** The signatures of the hooks, by name. */
export interface HookTypes {
  /** A route is compiled: read its options, add to a slot. Synchronous. */
  onRoute: (route: Route) => void
  /** Boot has finished, before the first request, also without a socket. */
  onReady: () => void | Promise<void>
  /** The socket is bound: start jobs, workers and subscriptions. Never called under `inject`. */
  onListen: (address: Address) => void | Promise<void>
  /**
   * After the listen hooks, for work that only one of several workers may do: in a single process at once, in the others when
   * this one takes over. A hook that fails then is called again.
   */
  onLead: () => void | Promise<void>
  /** Stop, flush, disconnect; in reverse order of registration. The hook should finish within `timeLeft` milliseconds. */
  onClose: (timeLeft: number) => void | Promise<void>
  /** Before the answer is encoded. An error here is a failure like that of a handler: its answer replaces the original one. */
  onSend: (req: Request, res: Response) => void | Promise<void>
  /** After the answer has left, with the milliseconds it took. An error here is only logged. */
  onResponse: (req: Request, res: Response, ms: number) => void | Promise<void>
  /** Called for every failure, answered or not. An error here is only logged. */
  onError: { handle(error: Thrown, req: Request, res: Response): void | Promise<void> }['handle']
}

/** The name of a hook of a plugin: `onSend`. */
export type HookName = keyof HookTypes

/** Hooks of the server's life, run in order of registration over the whole tree; the others reach routes by scope. */
export type LifeCycleHookName = 'onReady' | 'onListen' | 'onLead' | 'onClose'

/** A hook with the plugin it belongs to. */
export interface Hook<Name extends HookName> {
  readonly run: HookTypes[Name]
  readonly entry: PluginEntry
}

export type HookLists = { [Name in HookName]: Hook<Name>[] }

export function emptyHooks(): HookLists {
  return { onRoute: [], onReady: [], onListen: [], onLead: [], onClose: [], onSend: [], onResponse: [], onError: [] }
}
