import { urlOf } from './http/request/host.ts'
import type { Explanation, Inspected, Listing, PluginNode } from './inspection.ts'
import { LifeCycle } from './life/life-cycle.ts'
import type { ResolvedKernelOptions } from './options.ts'
import { CompiledRoutes } from './pipeline/compiled-route.ts'
import { Dispatcher } from './pipeline/dispatch.ts'
import type { NotFoundHandler } from './pipeline/find-route.ts'
import { type ContextHost, HookError, PluginAfterBootError } from './plugin/context.ts'
import type { RegisterOptions } from './plugin/define.ts'
import { enroll, prepare } from './plugin/enroll.ts'
import { type ErrorHandler, lifeCycleHooks, listsFor } from './plugin/hooks.ts'
import { checkRegistrable, type Registrable, registerArguments, registeredName, rootEntry } from './plugin/scope.ts'
import type { ServiceStore, Services } from './plugin/services.ts'
import { type RouteCollection, router as sharedRouter } from './routing/collection.ts'
import type { Middleware } from './routing/middleware.ts'
import { type AddRoute, RouteVerbs } from './routing/verbs.ts'
import type { Address } from './runtime/adapter.ts'
import { type InjectRequest, type InjectResponse, injector } from './runtime/inject.ts'
import { fetchHandler } from './runtime/web/fetch.ts'
import type { FetchClient } from './runtime/web/fetch-context.ts'
import { ArgumentsError, type FrameworkError } from './support/errors.ts'
import { LifeState } from './support/life-state.ts'
import { type Logger, warnInto } from './support/logger.ts'
import type { WorkerPlace } from './support/worker.ts'

declare module './http/request/request.ts' {
  interface HostServer extends Kernel {}
}

/** The function `server.inject`: it receives one request and resolves with its response. */
export type Inject = (request: InjectRequest) => Promise<InjectResponse>

/**
 * A server without any features of its own: the tree of plugins, the routes and the life cycle.
 *
 * Everything is a registration: middlewares and plugins go through {@link Kernel.register}, in order.
 *
 * @example
 * const kernel = new Kernel(kernelOptions.parse({ port: 0 }))
 * kernel.get('/', () => 'hello')
 * const { port } = await kernel.listen()
 */
export class Kernel extends RouteVerbs {
  /** The options with every default in place. */
  readonly settings: ResolvedKernelOptions
  /** The collection that this server serves in addition to its own routes. */
  readonly router: RouteCollection
  /** Which one of several workers this process is; `undefined` for a process that is not one of them. */
  readonly worker: WorkerPlace | undefined
  /** Sends one request through the whole pipeline without a socket; boots the server when needed. */
  readonly inject: Inject

  readonly #root = rootEntry(this)
  readonly #routes: CompiledRoutes
  readonly #dispatcher: Dispatcher
  readonly #state = new LifeState()
  /** The logger that the server writes to: the one in the options, until the plugin `log` replaces it with its own. */
  logger: Logger
  readonly #life: LifeCycle
  readonly #fetch: (request: globalThis.Request, client: unknown) => globalThis.Response | Promise<globalThis.Response>

  constructor(settings: ResolvedKernelOptions) {
    super()
    // Options that were not parsed, from JavaScript for example, have neither.
    if (settings?.limits === undefined || settings.logger === undefined)
      throw ArgumentsError('new Kernel', 'parsed options: new Kernel(kernelOptions.parse({ port: 3000 }))')
    this.settings = settings
    this.worker = settings.workers.place
    this.router = settings.router ?? sharedRouter
    this.logger = settings.logger
    this.#routes = new CompiledRoutes(this.router, this.#root.scope, settings.catalog.absent)
    this.#dispatcher = new Dispatcher(this, this.#state, this.#routes, this.#root.scope)
    const host: ContextHost = {
      server: this,
      state: this.#state,
      lifeCycle: listsFor(lifeCycleHooks),
      owned: new Set(),
      upgrades: [],
      rewriters: this.#dispatcher.rewriters,
      fallbacks: this.#dispatcher.finder.fallbacks,
      routes: this.#routes,
      prototypes: this.#dispatcher.prototypes,
    }
    this.#life = new LifeCycle(this.#state, this.#root, host, this.#dispatcher)
    const { limits } = settings
    this.#fetch = fetchHandler(this.#dispatcher.handle, { limits, onWarning: warnInto(this) })
    this.inject = injector(this.#dispatcher.handle, this.#life, this.#state)
    // Bound, because they are passed around on their own: platforms receive `{ fetch: server.fetch }`, signals `server.close`.
    this.fetch = this.fetch.bind(this)
    this.listen = this.listen.bind(this)
    this.close = this.close.bind(this)
    this.disconnect = this.disconnect.bind(this)
  }

  protected override addRoute(...route: AddRoute): void {
    this.#routes.add(undefined, ...route)
  }

  /** Registers one plugin or one middleware; with a prefix it gets a scope of its own. */
  register(plugin: Registrable, options?: RegisterOptions): this
  register(...args: readonly unknown[]): this {
    if (this.#state.booted) throw PluginAfterBootError('register() was called', `, with ${registeredName(args[0])}`)
    const [plugin, options] = registerArguments(args)
    enroll(this.#root, plugin, options)
    return this
  }

  /**
   * Registers values of the options, each at its path, such as `plugins.cors`, which messages about the plugin's own options have. The options
   * of all of them are read before the first service exists.
   */
  protected registerAll(list: readonly { readonly path: string | undefined; readonly plugin: unknown }[]): void {
    const prepared = list.map(({ path, plugin }) => prepare(this.#root, plugin, { path }))
    try {
      for (const add of prepared) add()
    } catch (error) {
      // No one receives this server, so no one can close it.
      void this.close().catch(() => {})
      throw error
    }
  }

  /**
   * Registers middlewares for every request, in the order given; the same as {@link Kernel.register} for each, so they
   * run in the order of the calls.
   */
  use(...middlewares: readonly [Middleware, ...Middleware[]]): this {
    const names = middlewares.map(registeredName).join(', ')
    if (this.#state.booted) throw PluginAfterBootError('use() was called', `, with ${names}`)
    checkRegistrable(middlewares)
    for (const middleware of middlewares) enroll(this.#root, middleware)
    return this
  }

  /** Sets the handler for errors that handlers, middlewares and plugins throw; errors that the framework raises for clients bypass it. */
  setErrorHandler(handler: ErrorHandler): this {
    if (typeof handler !== 'function') throw HookError('setErrorHandler', 'root')
    this.#root.scope.errorHandler = handler
    return this
  }

  /** Sets the handler that answers 404 and 405 instead of the built-in body; the status is preset, `Allow` is not. */
  setNotFoundHandler(handler: NotFoundHandler): this {
    if (typeof handler !== 'function') throw HookError('setNotFoundHandler', 'root')
    this.#dispatcher.finder.notFoundHandler = handler
    return this
  }

  /** The services that plugins provide at the root: `server.services.get('cache')`; `find` returns `undefined` for a missing one. */
  get services(): ServiceStore & Partial<Services> {
    return this.#root.scope.services as ServiceStore & Partial<Services>
  }

  /** @internal The logger for the framework's own entries, `req.log` and `ctx.log`: it never throws. */
  get safeLogger(): Logger {
    return this.settings.guarded(this.logger)
  }

  /** The port that the server listens on; until it listens, the one in the options. */
  get port(): number {
    return this.#state.address?.port ?? this.settings.port
  }

  /** The host that the server listens on; until it listens, the one in the options. */
  get host(): string {
    return this.#state.address?.host ?? this.settings.host
  }

  /** An address that a browser on this machine can open. */
  get url(): string {
    return urlOf(this.host, this.port, this.settings.https !== undefined)
  }

  /** Whether the socket is bound: from `listen` until the server has closed, including the drain window. */
  get isListening(): boolean {
    return this.#state.isListening
  }

  /** Whether requests should be sent here: booted, listen hooks done, not closing. */
  get isReady(): boolean {
    return this.#state.isReady
  }

  /** A signal that aborts when the drain window is over and the listener closes: for streams that never end by themselves. */
  get closing(): AbortSignal {
    return this.#life.closing.signal
  }

  /** The number of requests in progress: those received from the runtime whose responses have not been passed to it yet. */
  get requestsInFlight(): number {
    return this.#dispatcher.inFlight
  }

  /** Whether closing has begun: readiness probes answer 503 from then on. */
  get isClosing(): boolean {
    return this.#state.closing
  }

  /** Whether it boots or has booted. @internal */
  get hasBegun(): boolean {
    return this.#life.boot !== undefined
  }

  /** Whether closing stopped waiting for the work of a plugin; the process then ends with status 1. @internal */
  get abandonedWork(): boolean {
    return this.#state.abandoned
  }

  /**
   * Boots the plugins and compiles the routes, once; all callers share one boot.
   *
   * @throws the first failure, with the name of the plugin or the route; plugins that were set up are closed again.
   */
  ready(): Promise<void> {
    return this.#life.ready()
  }

  /**
   * Boots, binds the socket and runs the listen hooks.
   *
   * @throws (as a rejection) the failure of boot or binding, and the callback is not called then; or the callback's failure.
   * @example
   * await server.listen(({ port }) => console.log(`on ${port}`))
   */
  listen(callback?: (address: Address) => void | Promise<void>): Promise<Address>
  async listen(...args: readonly unknown[]): Promise<Address> {
    const [callback, ...more] = args
    if (more.length > 0 || !['undefined', 'function'].includes(typeof callback)) {
      const takes = 'a callback or nothing; port and host are options of the server: new Server({ port: 3000 })'
      throw ArgumentsError('listen', takes)
    }
    const address = await this.#life.listen()
    await (callback as Parameters<this['listen']>[0])?.(address)
    return address
  }

  /**
   * Answers a web request with a web response, in process. The client's address is that of the second argument, and `''` without one: limits
   * then count all clients as one. Bun and `deno serve` pass what they know of the connection, which is taken as well.
   *
   * @throws (as a rejection) ArgumentsError for an `ip` that is not a string.
   * @example
   * await server.fetch(new globalThis.Request('http://localhost/'), { ip: '203.0.113.7' })
   */
  async fetch(request: globalThis.Request, client?: FetchClient | object): Promise<globalThis.Response> {
    if (!['string', 'undefined'].includes(typeof (client as FetchClient | undefined)?.ip))
      throw ArgumentsError('fetch', "a request and { ip }, the client's address as a string")
    this.#life.mustBeOpen()
    await this.ready()
    return this.#fetch(request, client)
  }

  /**
   * Stops accepting, answers the requests in progress, and runs the close hooks in reverse, all within `closeTimeout`.
   * Calling it again returns the same promise. It takes no argument: the option `closeTimeout` sets the limit.
   *
   * @throws (as a rejection) the error of a close hook, or an AggregateError of several; everything was closed nevertheless.
   */
  close(): Promise<void>
  close(...args: readonly unknown[]): Promise<void> {
    const mistake = closeMistake(args[0])
    return mistake === undefined ? this.#life.close() : Promise.reject(mistake)
  }

  /** The same as {@link Kernel.close}. */
  disconnect(): Promise<void>
  disconnect(...args: readonly unknown[]): Promise<void> {
    return this.close(...(args as []))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The tree of plugins with the contributions and times of each. */
  get plugins(): PluginNode {
    return this.settings.inspection.tree(this.#root)
  }

  /** The tree of plugins as text, with what each contributed. */
  printPlugins(): string {
    return this.settings.inspection.printTree(this.plugins)
  }

  /** The routes and plugins as data, for tools; before boot, without those that plugins register in their `setup`. */
  get listing(): Listing {
    return this.settings.inspection.listing(this.#inspected)
  }

  /** Each route with its chain, one per line. */
  printRoutes(): string {
    return this.settings.inspection.printRoutes(this.#inspected)
  }

  /** The steps that a request would go through, in order, each with its owner. */
  explain(method: string, path: string): Explanation {
    return this.settings.inspection.explain(this.#inspected, method, path)
  }

  get #inspected(): Inspected {
    const { finder } = this.#dispatcher
    return { routes: this.#routes, finder, root: this.#root, booted: this.#state.booted, logger: this.safeLogger }
  }
}

/**
 * The mistake in an argument of `close`: options and callbacks would be ignored. When `close` is used as a listener, it receives an
 * event, the name of a signal or a value, and must close nevertheless.
 */
function closeMistake(given: unknown): FrameworkError | undefined {
  const isPlain =
    typeof given === 'object' && given !== null && [Object.prototype, null].includes(Object.getPrototypeOf(given))
  if (typeof given !== 'function' && !isPlain) return undefined
  const takes =
    'nothing, and returns a promise; how long it may last is an option of the server: new Server({ closeTimeout: 5_000 })'
  return ArgumentsError('close', takes)
}
