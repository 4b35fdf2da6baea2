/** How a test makes a plugin's calls to its store or service fail. */
export interface BackendOptions {
  /** The methods that are such calls. Default: all, except those that close it. */
  readonly methods?: readonly string[]
  /** Milliseconds after which the plugin would no longer wait. Default: it has a time limit of its own. */
  readonly limit?: number
  /** Makes the error of a call; `args` are those of the call. Default: an error with the code of a refused or lost connection. */
  readonly failure?: (why: string, args: readonly unknown[]) => Error
  /** What a call returns in place of failing; `call` does what the method does. */
  readonly fallback?: (call: () => unknown, args: readonly unknown[]) => unknown
}

/** An object through which a plugin reaches what it keeps elsewhere: a store, a driver, a transport. */
export interface Backend extends BackendOptions {
  /** The name of the plugin. */
  readonly plugin: string
  /** The object whose methods fail. */
  readonly object: object
}

// On the server itself, because a test kit may be of another copy of this package.
const mark = Symbol.for('framework.backends')
/** A server with what was announced. */
type WithBackends = object & { [mark]?: Backend[] }

/**
 * Announces such an object of a server, so that a test can make its methods fail with `outageOf`.
 *
 * @example
 * const stock = { count: async (_item: string) => 3 }
 * definePlugin({ name: 'stock', setup: (ctx) => announceBackend(ctx.server, 'stock', stock) })
 */
export function announceBackend(
  server: WithBackends,
  plugin: string,
  object: object,
  options: BackendOptions = {},
): void {
  server[mark] ??= []
  server[mark].push({ plugin, object, ...options })
}

export const backendsOf = (server: WithBackends): readonly Backend[] => server[mark] ?? []
