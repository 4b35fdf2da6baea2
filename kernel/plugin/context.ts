import type { Rewriter } from '../http/raw.ts'
import { type HostServer, KernelRequest, type Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import { KernelResponse } from '../http/response/response-buffer.ts'
import { type Middleware, NotAMiddlewareError } from '../routing/middleware.ts'
import { fixedPath, joinPaths } from '../routing/pattern.ts'
import type { Route } from '../routing/route.ts'
import { type AddRoute, RouteVerbs } from '../routing/verbs.ts'
import type { Upgrade } from '../runtime/adapter.ts'
import { defineErrors } from '../support/errors.ts'
import type { LifeState } from '../support/life-state.ts'
import type { Logger } from '../support/logger.ts'
import { declarationPoint } from '../support/trace.ts'
import { isPluginFactory, type RegisterOptions } from './define.ts'
import { enroll } from './enroll.ts'
import { type ErrorHandler, type HookName, type HookTypes, hookNames, type LifeCycleHookName } from './hooks.ts'
import type { Fallback, Hook, HookLists, PluginEntry, Registrable } from './scope.ts'
import { registerArguments, registeredName } from './scope.ts'
import type { ServiceStore, Services } from './services.ts'

export const { PluginAfterBootError, HookError, DecorateError } = defineErrors({
  PluginAfterBootError: (what: string, which = '') =>
    `${what} after boot${which}. Plugins, middlewares and hooks are fixed once the server is ready: register them before listen(), ready() or the first request`,
  HookError: (hook: string, plugin: string) =>
    plugin === 'root' ? `${hook}() takes a function` : `${hook}() of the plugin "${plugin}" takes a function`,
  DecorateError: (plugin: string, what: string) => `the plugin "${plugin}" decorates ${what}`,
})

declare module './define.ts' {
  interface SetupContext<Parsed, Prefix extends string> extends Context<Parsed, Prefix> {}
}

/** The part of the kernel that contexts write to. */
export interface ContextHost {
  readonly server: HostServer
  readonly state: Readonly<LifeState>
  /** The life-cycle hooks of the whole tree in order of registration; hooks for requests are kept in their scopes. */
  readonly lifeCycle: Pick<HookLists, LifeCycleHookName>
  /** The plugins and services that closing ends. */
  readonly owned: Set<unknown>
  /** The protocols for which plugins take over connections. */
  readonly upgrades: Upgrade[]
  readonly rewriters: Rewriter[]
  readonly fallbacks: Fallback[]
  readonly routes: { add(owner: PluginEntry, ...route: AddRoute): unknown; compile(logger: Logger): void }
  /** Where the members are that plugins add to the requests and responses of this server. */
  readonly prototypes: { readonly request: object; readonly response: object }
}

/** The hooks: a method for each. */
// biome-ignore lint/correctness/noUnusedVariables: an interface and a class of one name have the same parameters
export interface Context<out Parsed = {}, Prefix extends string = ''> {
  /**
   * Runs for each route of this scope and below when its chain is put together, at boot or before its first request: the place
   * to read route options once and to add steps. Synchronous; an error fails the boot.
   *
   * @example
   * ctx.onRoute((route) => {
   *   if (route.options.maxConcurrent !== undefined) route.add('around', limitConcurrency)
   * })
   */
  onRoute(hook: (route: Route<Parsed>) => void): void
  /**
   * Runs when the boot has finished, before the first request, also under `inject`. It is awaited; an error fails the boot.
   *
   * @example
   * ctx.onReady(async () => {
   *   await pool.query('select 1')
   * })
   */
  onReady(hook: HookTypes['onReady']): void
  /**
   * Runs when the socket is bound, never under `inject` or `fetch`: the place to start subscriptions and timers. It is awaited;
   * an error fails `listen`.
   *
   * @example
   * ctx.onListen(({ port }) => ctx.log.info({ port }, 'listening'))
   */
  onListen(hook: HookTypes['onListen']): void
  /**
   * Runs in the one process that leads, for work that only one of several workers may do: after the `onListen` hooks if it leads
   * from the start, otherwise when it takes over. An error fails `listen`; after a takeover it is logged and the hook is called again.
   *
   * @example
   * ctx.onLead(() => ctx.log.info('this process runs the jobs'))
   */
  onLead(hook: HookTypes['onLead']): void
  /**
   * Runs when `server.closing` aborts, alongside the requests in progress: take nothing new, finish what has begun, and settle then. The
   * `onClose` hooks run when the requests and these hooks are done, or when `closeTimeout` is over except for the part reserved for
   * `onClose` hooks. All `onDrain` hooks are called at once, the last registered one first; `close()` rejects with an error of one.
   *
   * @example
   * const running = new Set<Promise<void>>()
   * ctx.onDrain(async () => {
   *   await Promise.allSettled(running)
   * })
   */
  onDrain(hook: HookTypes['onDrain']): void
  /**
   * Runs while the server closes, after the last request and the `onDrain` hooks, in reverse order of registration. The hook has
   * `timeLeft` milliseconds; `close()` rejects with its error.
   *
   * @example
   * ctx.onClose(async (timeLeft) => {
   *   ctx.log.info({ timeLeft }, 'flushing')
   * })
   */
  onClose(hook: HookTypes['onClose']): void
  /**
   * Runs before the response of a route of this scope and below is encoded: the last chance to change it. It is awaited; an
   * error is a failure, whose response replaces this one.
   *
   * @example
   * ctx.onSend((_req, res) => void res.header('x-version', '1.4.2'))
   */
  onSend(hook: HookTypes['onSend']): void
  /**
   * Runs after the response of a route of this scope and below was handed to the runtime, with the milliseconds it took. It is
   * not awaited; an error is logged.
   *
   * @example
   * ctx.onResponse((req, res, ms) => req.log.info({ status: res.statusCode, ms }, 'answered'))
   */
  onResponse(hook: HookTypes['onResponse']): void
  /**
   * Runs for every failure of a route of this scope and below, before it is answered and whatever the response will be; not for
   * 404 and 405. It is not awaited; an error in it is logged.
   *
   * @example
   * ctx.onError((error, req) => req.log.error({ err: error }, 'failed'))
   */
  onError(hook: HookTypes['onError']): void
  /**
   * Runs each `onSend`, `onResponse` and `onError` hook and the error handler of a route of this scope and below. They come after the chain, and
   * so outside of an asynchronous context that a middleware has entered for it; here a plugin enters it again. The hook calls `work` and returns its result.
   *
   * @example
   * const { AsyncLocalStorage } = await import('node:async_hooks')
   * const locale = new AsyncLocalStorage<string>()
   * ctx.use((req, _res, next) => locale.run(req.headers['accept-language'] ?? 'en', next))
   * ctx.onLate((req, work) => locale.run(req.headers['accept-language'] ?? 'en', work))
   */
  onLate(hook: HookTypes['onLate']): void
}

/**
 * What a plugin's `setup` receives. Everything added through it affects the routes of its scope and below, but no sibling.
 *
 * A context is only for boot: `use`, `register`, hooks and routes throw afterwards. `Parsed` is the type of the values of the route
 * options that the plugin reads; `Prefix` is the prefix in its definition.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the class makes these members from the names of the hooks
// biome-ignore lint/correctness/noUnusedVariables: an interface and a class of one name have the same parameters
export class Context<out Parsed = {}, Prefix extends string = ''> extends RouteVerbs<Prefix> {
  static {
    for (const name of hookNames)
      Object.defineProperty(Context.prototype, name, {
        value(this: Context, hook: unknown) {
          this.#hook(name, hook)
        },
      })
  }

  readonly #host: ContextHost
  readonly #entry: PluginEntry

  constructor(host: ContextHost, entry: PluginEntry) {
    super()
    this.#host = host
    this.#entry = entry
  }

  protected override addRoute(...[method, path, ...rest]: AddRoute): void {
    this.#mustBoot(`registers the route ${method} ${path}`)
    const full = joinPaths(this.#entry.scope.prefix, path)
    this.#host.routes.add(this.#entry, method, full, ...rest)
    this.#entry.routes.push(`${method} ${full}`)
  }

  /** The name of the plugin. */
  get name(): string {
    return this.#entry.name
  }

  /** The path prefix of this scope, `''` at the root. */
  get prefix(): string {
    return this.#entry.scope.prefix
  }

  /**
   * The names of the scopes from the root to this one, joined by `/`; `''` at the root. The result is unique in the server and
   * the same in every process, so it can be part of names in a store that several processes share.
   */
  get scope(): string {
    return this.#entry.scope.path
  }

  /** The server that is booting: its logger, its address and its services. */
  get server(): HostServer {
    return this.#host.server
  }

  /** The server's logger, with the plugin's name on every line. */
  get log(): Logger {
    return this.#host.server.safeLogger.child({ plugin: this.#entry.name })
  }

  /** The services of this plugin, its scope and the outer scopes. */
  get services(): ServiceStore & Partial<Services> {
    return this.#entry.scope.services as ServiceStore & Partial<Services>
  }

  /** Adds middlewares for every route of this scope and below, in the order given; the root's also run for 404 and 405. */
  use(...middlewares: readonly [Middleware, ...Middleware[]]): void {
    const { name: plugin, scope } = this.#entry
    const names = middlewares.map((one) => (typeof one === 'function' ? one.name || plugin : typeof one))
    this.#mustBoot(`adds the middleware ${names.join(', ')}`)
    // All or none: a middleware that is dropped may be the guard.
    if (names.length === 0 || middlewares.some((one) => typeof one !== 'function')) throw HookError('use', plugin)
    const factory = middlewares.find(isPluginFactory)
    if (factory !== undefined)
      throw NotAMiddlewareError(`ctx.use() was given the plugin "${factory.name}", which belongs in register()`)
    for (const [i, run] of middlewares.entries()) {
      const step = { slot: 'scope' as const, name: names[i]!, plugin, scope: scope.name, run }
      scope.middlewares.push({ step, entry: this.#entry })
      this.#entry.middlewares.push(names[i]!)
    }
  }

  /** Registers one plugin or one middleware below this one. */
  register(plugin: Registrable, options?: RegisterOptions): void
  register(...args: readonly unknown[]): void {
    this.#mustBoot(`registers ${registeredName(args[0])}`)
    const [plugin, options] = registerArguments(args)
    enroll(this.#entry, plugin, options)
  }

  /** Whether a plugin of that name is registered in this scope or an outer one. */
  hasPlugin(name: string): boolean {
    return this.#entry.scope.findPlugin(name) !== undefined
  }

  /** Adds a service that was created during boot; a service that needs no I/O belongs in `provide` of the definition. */
  provide<Name extends keyof Services & string>(name: Name, value: Services[Name]): void {
    this.#mustBoot(`provides the service "${name}"`)
    this.#entry.scope.services.provide({ [name]: value }, this.#entry.name)
    this.#entry.services.push(name)
  }

  /**
   * Adds members to every request or response of this server; a plugin in several scopes adds them once.
   *
   * @example
   * ctx.decorate('request', { agent: { get() { return this.headers['user-agent'] } } })
   */
  decorate(target: 'request', members: PropertyDescriptorMap & ThisType<Request>): void
  decorate(target: 'response', members: PropertyDescriptorMap & ThisType<Response>): void
  decorate(target: 'request' | 'response', members: PropertyDescriptorMap): void {
    this.#mustBoot(`decorates the ${target}`)
    decorate(this.#host.prototypes, target, members, this.#entry)
  }

  /**
   * Adds a function that can change what a request is treated as before it is routed: its method, target, host, scheme, address.
   * Such functions apply to the whole server, in order of registration.
   *
   * @example
   * ctx.rewrite((raw) => (raw.target.startsWith('/v1/') ? { target: raw.target.slice(3) } : undefined))
   */
  rewrite(rewriter: Rewriter): void {
    this.#mustTake('rewrites requests', 'rewrite', rewriter)
    this.#host.rewriters.push(rewriter)
  }

  /**
   * Answers requests that match no route, at a path of this scope and below it: after the middlewares of the scope, instead of
   * 404. The longest path comes first; a function that does not answer passes the request to the next one, and finally to 404.
   *
   * @example
   * ctx.fallback('/old', (req, res) => void res.redirect(`/new${req.path.slice(4)}`, 301))
   */
  fallback(path: string, handler: (req: Request, res: Response) => void | Promise<void>): void {
    this.#mustTake('adds a fallback', 'fallback', handler)
    const { name: plugin, scope } = this.#entry
    const fixed = fixedPath(joinPaths(scope.prefix, path))
    const full = fixed === '/' ? '' : fixed
    this.#host.fallbacks.push({ scope, plugin, path: full, run: declared(handler) })
    this.#entry.routes.push(`fallback ${full}/*`)
  }

  /**
   * Declares that this plugin takes over connections for a protocol: requests that ask for it then have `req.raw.upgrade`, and a step may
   * answer with `res.upgrade`. The declaration counts once per server, however often the plugin is registered.
   *
   * @example
   * ctx.upgrades({ protocol: 'echo' })
   */
  upgrades(upgrade: Upgrade): void {
    this.#mustBoot('takes connections over')
    const { upgrades } = this.#host
    if (!upgrades.some(({ protocol }) => protocol === upgrade.protocol)) upgrades.push(upgrade)
  }

  /** Sets the handler for errors thrown by handlers, middlewares and plugins of this scope and below; the nearest scope's one is used. */
  setErrorHandler(handler: ErrorHandler): void {
    this.#mustTake('sets an error handler', 'setErrorHandler', handler)
    this.#entry.scope.errorHandler = declared(handler)
  }

  #hook(name: HookName, run: unknown): void {
    this.#mustTake(`adds the hook ${name}`, name, run)
    const ofLife = name in this.#host.lifeCycle ? (this.#host.lifeCycle as HookLists) : undefined
    // A tool that names the plugin of a handler would see this one for what it calls, such as an error handler of the application.
    const hook = { run: (ofLife || name === 'onLate' ? run : declared(run)) as HookTypes[HookName], entry: this.#entry }
    ;((ofLife ?? this.#entry.scope.hooks)[name] as Hook<HookName>[]).push(hook)
    this.#entry.hooks.push(name)
  }

  #mustBoot(does: string): void {
    if (this.#host.state.booted) throw PluginAfterBootError(`the plugin "${this.#entry.name}" ${does}`)
  }

  #mustTake(does: string, call: string, given: unknown): void {
    this.#mustBoot(does)
    if (typeof given !== 'function') throw HookError(call, this.#entry.name)
  }
}

/** A handler, or what a tool puts in its place. */
function declared<Handler>(handler: Handler): Handler {
  const one = { handler }
  if (declarationPoint.isOn) declarationPoint.publish({ declared: one })
  return one.handler
}

const nothing = {} as never

/** Fields that each object has of its own hide the members of its class, so decorating them would have no effect. */
const fields: Record<string, object> = {
  request: new KernelRequest(nothing, nothing, nothing, nothing, nothing),
  response: new KernelResponse(nothing),
}

/** Anything without one of these keys, such as a function, would add a member that is `undefined`. */
const isDescriptor = (given: unknown): boolean =>
  typeof given === 'object' && given !== null && ['get', 'set', 'value'].some((one) => one in given)

/** The plugin that added each member, by the class that has it. */
const owners = new WeakMap<object, Map<string, PluginEntry>>()

/**
 * Installs members on the class of one server's requests or responses. A getter of the kernel, `ip` for example, may be
 * replaced once; a member of another plugin may not. A plugin that is registered in several scopes adds its members once.
 */
function decorate(
  prototypes: ContextHost['prototypes'],
  target: 'request' | 'response',
  members: PropertyDescriptorMap,
  entry: PluginEntry,
): void {
  if (!Object.hasOwn(fields, target)) {
    throw DecorateError(entry.name, `"${target}"; it takes "request" or "response"`)
  }
  const prototype = prototypes[target]
  const added = owners.get(prototype) ?? new Map<string, PluginEntry>()
  owners.set(prototype, added)
  for (const [name, descriptor] of Object.entries(members)) {
    const fail = (why: string) => DecorateError(entry.name, `the ${target} with "${name}", which ${why}`)
    const owner = added.get(name)
    if (owner?.definition === entry.definition && owner !== entry) continue
    if (Object.hasOwn(prototype, name)) {
      const first = owner === undefined ? 'the kernel' : `the plugin "${owner.name}" (registered at ${owner.site})`
      throw fail(`${first} already added. Choose another name`)
    }
    if (Object.hasOwn(fields[target]!, name)) throw fail('is a field of the kernel. Choose another name')
    if (!isDescriptor(descriptor)) throw fail('is not a property descriptor: { get() { … } } or { value: … }')
    Object.defineProperty(prototype, name, { configurable: true, ...descriptor })
    added.set(name, entry)
  }
}
