import type { RawRequest, Rewriter } from './http/raw.ts'
import type { Query } from './http/request/request.ts'
import type { Failures } from './http/response/error-body.ts'
import type { Bodies } from './http/response/response-buffer.ts'
import type { Inspection } from './inspection.ts'
import type { AbsentPlugin } from './pipeline/route-options.ts'
import type { PluginDefinition, Registration } from './plugin/define.ts'
import type { RouteCollection } from './routing/collection.ts'
import type { Adapter, Limits, TlsOptions } from './runtime/adapter.ts'
import type { Logger } from './support/logger.ts'
import type { Workers } from './support/worker.ts'

/** Options of a server as the user writes them; every time is in milliseconds. The kernel itself takes parsed ones. */
export interface KernelOptions {
  /** The port to listen on; 0 picks a free one. Default: `PORT` of the environment, otherwise 3000. */
  port?: number
  /** The address to listen on. Default: `HOST` of the environment, otherwise `0.0.0.0`, every address of the machine. */
  host?: string
  /** The collection of routes to serve; default: the `router` of the process. */
  router?: RouteCollection
  /**
   * What the server, `req.log` and `ctx.log` write to: anything with `debug`, `info`, `warn`, `error` and `child`, such as a
   * pino logger. Default: JSON lines on standard error, from `warn` on.
   */
  logger?: Logger
  /** Close on SIGTERM and SIGINT once listening; default true. */
  gracefulShutdown?: boolean
  /** Limit for closing as a whole; connections that are still open then are cut. Default 10000. */
  closeTimeout?: number
  /** How long requests are still served, while the readiness probe fails, before the listener closes; at most half of `closeTimeout`. Default 300, or that half. */
  drainWindow?: number
  /** Limit for the `setup` of each plugin; one that takes longer fails the boot. Default 10000. */
  bootTimeout?: number
  /** Limit for answering a request, not counting the time in which its body arrives; default 30000, 0 for no limit. */
  requestTimeout?: number
  /** Use the client's `x-request-id` as `req.id`; default false. */
  trustRequestId?: boolean
  /** Limits on what one connection may cost, each replacing its default. */
  limits?: Partial<Limits>
  /** Key and certificate; the server then speaks https. */
  https?: TlsOptions
  /** A signal that closes the server when it aborts. */
  abortSignal?: AbortSignal
  /** The underlying server: that of the runtime by default, or `node` for `node:http` on Bun and Deno, which enforces every limit. */
  adapter?: 'node' | 'bun' | 'deno'
}

/** Options without a default. */
type Optional = 'router' | 'https' | 'abortSignal' | 'adapter'

/** Options with every default in place; `router` is the given one. */
export interface ResolvedKernelOptions
  extends Readonly<Required<Omit<KernelOptions, Optional | 'limits'>>>,
    Readonly<Pick<KernelOptions, Exclude<Optional, 'adapter'>>> {
  /** The underlying server, or its name. */
  readonly adapter?: KernelOptions['adapter'] | Adapter
  /** All limits of a connection, with defaults for those that were not given. */
  readonly limits: Limits
  /** Returns a logger whose methods never throw: nothing that the framework writes may end the process. */
  guarded(logger: Logger): Logger
  /** Decides how all failures are answered. */
  readonly errorFormat: Failures
  /** Reads a query string. @internal */
  parseQuery(text: string): Query
  /** Applies the rewriters in order, each to the result of the previous one. Never throws: a failure becomes a refusal. @internal */
  rewrite(raw: RawRequest, rewriters: readonly Rewriter[]): RawRequest
  /** Sends files, events, and objects of the web platform. @internal */
  readonly bodies: Bodies
  /** Shows what is registered. @internal */
  readonly inspection: Inspection
  /** The process that the server runs in, and the others that do the same work. */
  readonly workers: Workers
  /** What a test uses in place of parts of this server. @internal */
  readonly substitutes: {
    /** Returns the definition that a plugin has in this server. */
    definitionOf<Definition extends PluginDefinition<never, object>>(plugin: Definition): Definition
    /** Returns the settings that a plugin has in this server. */
    settingsOf(plugin: PluginDefinition<never, object>, settings: unknown): unknown
  }
  /** What is known of plugins that are not registered. @internal */
  readonly catalog: PluginCatalog
}

/** What is known of plugins that are not registered; the kernel itself knows none. */
export interface PluginCatalog {
  /** The names of those that could be registered, for messages. */
  readonly names: readonly string[]
  /** The plugin to register automatically where another depends on it and it is missing. */
  companion(name: string): Registration | undefined
  /** The plugin that would read a route option if it were registered. */
  absent(option: string): AbsentPlugin | undefined
}
