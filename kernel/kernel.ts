import { CompiledRoutes } from './compile.ts'
import { Dispatcher, type NotFoundHandler } from './dispatch.ts'
import { KernelRequest } from './http/request.ts'
import { KernelResponse } from './http/response.ts'
import { type Explanation, explainRoute, printRoutes } from './inspect.ts'
import { type KernelOptions, type ResolvedKernelOptions, resolveOptions } from './options.ts'
import { bootTree } from './plugin/boot.ts'
import { type ContextHost, PluginAfterBootError } from './plugin/context.ts'
import type { ErrorHandler, Hook } from './plugin/hooks.ts'
import { enroll, PluginEntry, type RegisterOptions, type Registrable, Scope } from './plugin/scope.ts'
import type { ServiceStore, Services } from './plugin/services.ts'
import { type PluginNode, printTree, snapshot } from './plugin/tree.ts'
import { RouteCollection, type RouteRecord, type Routes, type Verb } from './routing/collection.ts'
import type { Middleware } from './routing/middleware.ts'
import { router as sharedRouter } from './routing/router.ts'
import type { Adapter, Address } from './runtime/adapter.ts'
import { loadAdapter } from './runtime/detect.ts'
import { fetchHandler } from './runtime/fetch.ts'
import { type InjectRequest, type InjectResponse, injectInto } from './runtime/inject.ts'
import { shutDown } from './shutdown.ts'
import { closeOnSignals } from './signals.ts'
import { defineError } from './support/errors.ts'
import { type Logger, lineLogger } from './support/logger.ts'

export const ListeningTwiceError = defineError(
  'ListeningTwiceError',
  500,
  () => 'listen() was called before on this server. A server listens once; make another for another port',
)
export const ServerClosedError = defineError('ServerClosedError', 503, () => 'the server is closed. Make a new one')
export const NotReadyError = defineError(
  'NotReadyError',
  500,
  (what: string) => `${what} needs a booted server. Call await server.ready() first`,
)

/** What `server.inject` is: a function from one request to its answer. */
export type Inject = (request: InjectRequest) => Promise<InjectResponse>

/**
 * A server without any feature: the tree of plugins, its routes and its life.
 *
 * Everything is a registration: middlewares and plugins go through {@link Kernel.register}, in order.
 *
 * @example
 * const kernel = new Kernel({ port: 0 })
 * kernel.get('/', () => 'hello')
 * const { port } = await kernel.listen()
 */
export class Kernel implements Routes {
  /** The options with every default in place. */
  readonly settings: ResolvedKernelOptions
  /** The collection this server serves beside its own routes. */
  readonly router: RouteCollection
  /** Sends one request through the whole pipeline without a socket; boots the server when needed. */
  readonly inject: Inject

  readonly #root: PluginEntry
  readonly #own = new RouteCollection()
  readonly #owners = new Map<RouteRecord, PluginEntry>()
  readonly #routes: CompiledRoutes
  readonly #dispatcher: Dispatcher
  readonly #host: ContextHost & { booted: boolean }
  #logger: Logger
  #boot: Promise<void> | undefined
  #adapter: Adapter | undefined
  #address: Address | undefined
  #listening = false
  #close: Promise<void> | undefined
  #closed = false
  #stopWatching: (() => void) | undefined
  readonly #fetch: (request: globalThis.Request) => globalThis.Response | Promise<globalThis.Response>

  constructor(options: KernelOptions = {}) {
    this.settings = resolveOptions(options)
    this.router = options.router ?? sharedRouter
    this.#logger = options.logger ?? lineLogger()
    this.#root = new PluginEntry({
      name: 'root',
      definition: { name: 'root' },
      options: undefined,
      site: '',
      scope: new Scope('root'),
      scoped: false,
    })
    // One subclass each for every server: what plugins add to requests holds for this server only.
    const classes = {
      Request: class Request extends KernelRequest {},
      Response: class Response extends KernelResponse {},
    }
    this.#routes = new CompiledRoutes(this.router, this.#own, this.#owners, this.#root.scope)
    this.#dispatcher = new Dispatcher(this, this.#routes, this.#root.scope, classes)
    this.#host = {
      server: this,
      booted: false,
      lifeCycle: { onReady: [], onListen: [], onClose: [] },
      addRoute: (owner, ...route) => {
        this.#owners.set(this.#own.add(...route), owner)
      },
      decorate: (target, members, plugin) =>
        decorate((target === 'request' ? classes.Request : classes.Response).prototype, target, members, plugin),
    }
    this.#fetch = fetchHandler(this.#dispatcher.handle)
    this.inject = async (request) => {
      this.#mustBeOpen()
      await this.ready()
      return injectInto(this.#dispatcher.handle, request)
    }
    this.#watchAbortSignal()
  }

  get get(): Verb {
    return this.#own.get
  }
  get head(): Verb {
    return this.#own.head
  }
  get post(): Verb {
    return this.#own.post
  }
  get put(): Verb {
    return this.#own.put
  }
  get patch(): Verb {
    return this.#own.patch
  }
  get delete(): Verb {
    return this.#own.delete
  }
  get options(): Verb {
    return this.#own.options
  }
  get any(): Verb {
    return this.#own.any
  }
  get group(): Routes['group'] {
    return this.#own.group
  }

  /** Registers a plugin or a middleware; with a prefix it gets a scope of its own. */
  register(plugin: Registrable, options?: RegisterOptions): this {
    if (this.#host.booted) throw PluginAfterBootError('register() was called')
    enroll(this.#root, plugin, options)
    return this
  }

  /** Registers a middleware for every request; the same as {@link Kernel.register}, so the order of calls is the order of running. */
  use(middleware: Middleware): this {
    if (this.#host.booted) throw PluginAfterBootError('use() was called')
    enroll(this.#root, middleware)
    return this
  }

  /** Answers errors that handlers, middlewares and plugins throw; those the framework raises for the client pass it by. */
  setErrorHandler(handler: ErrorHandler): this {
    this.#root.scope.errorHandler = handler
    return this
  }

  /** Answers 404 and 405 in place of the built-in body; the status is preset, `Allow` is not. */
  setNotFoundHandler(handler: NotFoundHandler): this {
    this.#dispatcher.notFoundHandler = handler
    return this
  }

  /** What the plugins provide. */
  get services(): ServiceStore & Partial<Services> {
    return this.#root.scope.services as ServiceStore & Partial<Services>
  }

  get logger(): Logger {
    return this.#logger
  }

  /** The log plugin puts its own in place. */
  set logger(logger: Logger) {
    this.#logger = logger
  }

  /** The real port once listening. */
  get port(): number {
    return this.#address?.port ?? this.settings.port
  }

  get host(): string {
    return this.#address?.host ?? this.settings.host
  }

  /** An address that a browser on this machine can open. */
  get url(): string {
    const local = this.host === '0.0.0.0' || this.host === '::' ? 'localhost' : this.host
    return `${this.settings.https === undefined ? 'http' : 'https'}://${local.includes(':') ? `[${local}]` : local}:${this.port}`
  }

  get isListening(): boolean {
    return this.#address !== undefined && !this.#closed
  }

  /** Whether closing has begun: readiness probes answer no from then on. */
  get isClosing(): boolean {
    return this.#close !== undefined
  }

  /**
   * Boots the plugins and compiles the routes, once; every caller shares the one boot.
   *
   * @throws the first failure, naming the plugin or the route; what was set up is closed again.
   */
  ready(): Promise<void> {
    this.#boot ??= this.#bootOnce()
    return this.#boot
  }

  async #bootOnce(): Promise<void> {
    const start = performance.now()
    try {
      await bootTree(this.#root, this.#host, this.settings.bootTimeout)
      this.#routes.compile()
      this.#host.booted = true
      await this.#runHooks(this.#host.lifeCycle.onReady, 'a ready hook')
    } catch (error) {
      this.#host.booted = true
      for (const failure of await this.#closeParts()) this.#logger.error({ err: failure }, failure.message)
      throw error
    } finally {
      this.#root.times.boot = performance.now() - start
    }
  }

  async #runHooks<Args extends unknown[]>(
    hooks: readonly Pick<Hook<'onListen'>, 'entry' | 'run'>[] | readonly Hook<'onReady'>[],
    phase: string,
    ...args: Args
  ): Promise<void> {
    for (const { run, entry } of hooks) {
      const start = performance.now()
      try {
        await (run as (...all: Args) => unknown)(...args)
      } catch (error) {
        throw entry.failure(phase, error)
      } finally {
        entry.times.ready += performance.now() - start
      }
    }
  }

  /**
   * Boots, binds the socket and runs the listen hooks.
   *
   * @throws (as a rejection) what boot or binding failed with; the callback is not called then.
   * @example
   * await server.listen(({ port }) => console.log(`on ${port}`))
   */
  async listen(callback?: (address: Address) => void): Promise<Address> {
    this.#mustBeOpen()
    if (this.#listening) throw ListeningTwiceError()
    this.#listening = true
    await this.ready()
    const { port, host, limits, https, adapter, gracefulShutdown } = this.settings
    const bound = await loadAdapter(adapter)
    const address = await bound.listen(
      {
        port,
        host,
        limits,
        ...(https === undefined ? {} : { https }),
        onWarning: (message, error) => this.#logger.warn(error === undefined ? {} : { err: error }, message),
      },
      this.#dispatcher.handle,
    )
    this.#adapter = bound
    // Somebody may have closed the server while it was binding.
    if (this.#close !== undefined) {
      bound.cut()
      await bound.stop()
      throw ServerClosedError()
    }
    this.#address = address
    if (gracefulShutdown) this.#stopWatching = closeOnSignals(this)
    try {
      await this.#runHooks(this.#host.lifeCycle.onListen, 'a listen hook', address)
    } catch (error) {
      await this.close().catch((failure: unknown) =>
        this.#logger.error({ err: failure }, 'closing after a failed start failed too'),
      )
      throw error
    }
    callback?.(address)
    return address
  }

  /** Answers a web request with a web response, in process. */
  async fetch(request: globalThis.Request): Promise<globalThis.Response> {
    this.#mustBeOpen()
    await this.ready()
    return this.#fetch(request)
  }

  /**
   * Stops accepting, answers what is in work, and runs the close hooks in reverse, all within `closeTimeout`.
   * Calling it again gives the same promise.
   *
   * @throws (as a rejection) the error of a close hook, or an AggregateError of several; everything was closed all the same.
   */
  close(): Promise<void> {
    this.#close ??= this.#closeOnce()
    return this.#close
  }

  /** The same as {@link Kernel.close}. */
  disconnect(): Promise<void> {
    return this.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #closeOnce(): Promise<void> {
    // A server that never booted has nothing to close; one that is booting is let finish first.
    if (this.#boot === undefined) {
      this.#closed = true
      return
    }
    const booted = await this.#boot.then(
      () => true,
      () => false,
    )
    const errors = booted ? await this.#closeParts() : []
    this.#closed = true
    this.#stopWatching?.()
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1)
      throw new AggregateError(
        errors,
        `closing failed in ${errors.length} places: ${errors.map((one) => one.message).join(' · ')}`,
      )
  }

  #closeParts(): Promise<Error[]> {
    const dispatcher = this.#dispatcher
    return shutDown({
      adapter: this.#adapter,
      hooks: this.#host.lifeCycle.onClose,
      closeTimeout: this.settings.closeTimeout,
      drainWindow: this.settings.drainWindow,
      logger: this.#logger,
      startDraining: () => {
        dispatcher.closing = true
      },
      stopIntake: () => {
        dispatcher.refusing = true
        return new Promise((resolve) => {
          if (dispatcher.inFlight === 0) resolve()
          else dispatcher.onIdle = resolve
        })
      },
    })
  }

  /** The tree of plugins with what each contributed and the time it took. */
  get plugins(): PluginNode {
    return snapshot(this.#root)
  }

  /** The tree as text. */
  printPlugins(): string {
    return printTree(this.plugins)
  }

  /** Each route with its chain, one a line. */
  printRoutes(): string {
    this.#mustBeBooted('printRoutes()')
    return printRoutes(this.#routes, this.#logger)
  }

  /** The steps that a request would go through, in order, each with its owner. */
  explain(method: string, path: string): Explanation {
    this.#mustBeBooted('explain()')
    return explainRoute(this.#routes, this.#root.scope, this.#logger, method, path)
  }

  #mustBeBooted(what: string): void {
    if (!this.#host.booted) throw NotReadyError(what)
  }

  #mustBeOpen(): void {
    if (this.#closed) throw ServerClosedError()
  }

  #watchAbortSignal(): void {
    const signal = this.settings.abortSignal
    if (signal === undefined) return
    const abort = () => {
      this.close().catch((error: unknown) => this.#logger.error({ err: error }, 'closing on abort failed'))
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  }
}

const DecorateError = defineError(
  'DecorateError',
  500,
  (target: string, member: string, plugin: string) =>
    `the plugin "${plugin}" decorates the ${target} with "${member}", which is there already. Choose another name`,
)

function decorate(prototype: object, target: string, members: PropertyDescriptorMap, plugin: string): void {
  for (const [name, descriptor] of Object.entries(members)) {
    if (Object.hasOwn(prototype, name)) throw DecorateError(target, name, plugin)
    Object.defineProperty(prototype, name, { configurable: true, ...descriptor })
  }
}
