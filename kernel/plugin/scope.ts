import type { Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import { type Middleware, nameOf } from '../routing/middleware.ts'
import { joinPaths } from '../routing/pattern.ts'
import type { Step } from '../routing/route.ts'
import type { CallSite } from '../support/call-site.ts'
import { defineErrors, messageOf } from '../support/errors.ts'
import { Trace, type TraceOutcome } from '../support/trace.ts'
import type { PluginDefinition, RegisterOptions, Registration } from './define.ts'
import { isPluginFactory, isRegistration, readPrefix } from './define.ts'
import { type ErrorHandler, type HookName, type HookTypes, hookNames, listsFor } from './hooks.ts'
import { ServiceStore } from './services.ts'

export const { DuplicatePluginError, NotAPluginError, RegisterArgumentsError, PluginSetupError } = defineErrors({
  DuplicatePluginError: (name: string, first: string, second: string) =>
    `the plugin "${name}" is registered twice in one scope: at ${first} and at ${second}. Remove one, or register it within another plugin that has a scope of its own (a prefix, or scoped: true)`,
  NotAPluginError: (what: string) =>
    `${what} is neither a plugin nor a middleware. Pass a registration (cors({ … })) or a function (req, res, next)`,
  RegisterArgumentsError: (why: string) =>
    `register() takes one plugin, or one middleware, and options: register(plugin, { prefix: '/path' }). ${why}`,
  PluginSetupError: (name: string, phase: string, why: string, hint: string) =>
    `the plugin "${name}" failed in ${phase}: ${why}${hint}`,
})

/** The argument of `register`: a plugin with its options, or a bare middleware. */
export type Registrable = Registration | Middleware

/** A hook with the plugin it belongs to. */
export interface Hook<Name extends HookName> {
  readonly run: HookTypes[Name]
  readonly entry: PluginEntry
}

/** What responds to requests at a path and below it that match no route; if it does not respond, the next fallback is asked. */
export interface Fallback {
  /** Its middlewares run before it. */
  readonly scope: Scope
  readonly plugin: string
  /** The path at which it applies; `''` for everything. */
  readonly path: string
  readonly run: (req: Request, res: Response) => void | Promise<void>
}

export type HookLists = { [Name in HookName]: Hook<Name>[] }

/** Milliseconds spent in each phase of a plugin's life. */
export interface PluginTimes {
  /** The time in `setup`. */
  boot: number
  /** The time in `onReady` hooks. */
  ready: number
  /** The time in `onDrain` hooks. */
  drain: number
  /** The time in `onClose` hooks. */
  close: number
}

/** One phase of the life of one plugin: its `provide`, its `setup`, or one of its hooks. */
export interface PluginTrace extends TraceOutcome {
  /** The server of the plugin. */
  readonly server: object
  /** The name of the plugin. */
  readonly plugin: string
  /** The name of the scope that it runs in; `root` for the scope of the server. */
  readonly scope: string
  /** `provide`, `setup`, or the hook: `ready`, `listen`, `lead`, `drain`, `close`. */
  readonly phase: string
}

const pluginTrace = new Trace<PluginTrace>('plugin')

/** One registered plugin: its place in the tree and its contributions. */
export class PluginEntry {
  readonly definition: PluginDefinition<never, object>
  /** The scope to which its contributions belong: its parent's scope, or a child of that. */
  readonly scope: Scope
  /** The options that it was registered with. */
  readonly options: unknown
  /** What its options mean: the argument of `provide` and `setup`. */
  readonly settings: unknown
  readonly uncalled: boolean
  /** Where it was registered: text only in messages and for tools. */
  readonly site: CallSite | ''
  /** The services that its `provide` has made. */
  provided: object = {}
  readonly children: PluginEntry[] = []
  readonly times: PluginTimes = { boot: 0, ready: 0, drain: 0, close: 0 }
  readonly services: string[] = []
  readonly middlewares: string[] = []
  readonly hooks: HookName[] = []
  readonly routes: string[] = []

  constructor(
    definition: PluginDefinition<never, object>,
    scope: Scope,
    registered: Partial<Pick<PluginEntry, 'options' | 'settings' | 'site' | 'uncalled'>> = {},
  ) {
    this.definition = definition
    this.scope = scope
    this.options = registered.options
    this.settings = registered.settings
    this.site = registered.site ?? ''
    this.uncalled = registered.uncalled ?? false
  }

  get name(): string {
    return this.definition.name
  }

  /** Whether it has a scope of its own, whose entry it is. */
  get scoped(): boolean {
    return this.scope.parent?.plugins.get(this.name) === this
  }

  /** Runs one phase of its life, which diagnostics see: `setup`, or a hook. */
  trace<Result>(phase: string, work: () => Result): Result {
    const { server, name: scope } = this.scope
    return pluginTrace.run(() => ({ server, plugin: this.name, scope, phase }), work)
  }

  /** The error for a value that this plugin threw; names the plugin, and a likely cause. */
  failure(phase: string, error: unknown): Error {
    const hint = this.uncalled
      ? `. Its factory was passed without being called: if it needs options, write ${this.name}({ … })`
      : ''
    return Object.assign(PluginSetupError(this.name, phase, messageOf(error), hint), { cause: error })
  }
}

/**
 * One place in the tree with its middlewares, hooks, services, prefix and failure handler. Children
 * see their ancestors; siblings do not see each other.
 */
export class Scope {
  readonly name: string
  readonly prefix: string
  readonly parent: Scope | undefined
  readonly server: object
  readonly services: ServiceStore
  readonly middlewares: { readonly step: Step; readonly entry: PluginEntry }[] = []
  readonly hooks: HookLists = listsFor(hookNames)
  readonly plugins = new Map<string, PluginEntry>()
  errorHandler: ErrorHandler | undefined

  constructor(name: string, server: object, prefix = '', parent?: Scope) {
    this.name = name
    this.server = server
    this.parent = parent
    this.prefix = parent === undefined ? prefix : prefix === '' ? parent.prefix : joinPaths(parent.prefix, prefix)
    this.services = new ServiceStore(parent?.services)
  }

  /** The names of the scopes from the root to this one, `''` at the root: unique in the server, and the same in every process. */
  get path(): string {
    const names = this.lineage.slice(1).map(({ name }) => name.replace(/[\s/%]/g, encodeURIComponent))
    return names.join('/')
  }

  /** This scope and its ancestors, the root first. */
  get lineage(): Scope[] {
    return this.parent === undefined ? [this] : [...this.parent.lineage, this]
  }

  /** The plugin of that name that is visible from here, the nearest first. */
  findPlugin(name: string): PluginEntry | undefined {
    return this.plugins.get(name) ?? this.parent?.findPlugin(name)
  }

  /** All middlewares that reach this scope, the root's first. */
  get middlewaresReaching(): Step[] {
    return this.lineage.flatMap((from) =>
      from.middlewares.filter(({ entry }) => this.holds(entry, from)).map(({ step }) => step),
    )
  }

  /** All hooks of one kind that reach this scope, the root's first. */
  hooksReaching<Name extends HookName>(name: Name): Hook<Name>[] {
    return this.lineage.flatMap((from) =>
      (from.hooks[name] as Hook<Name>[]).filter(({ entry }) => this.holds(entry, from)),
    )
  }

  /**
   * Whether what a plugin added to `from` applies here: not when the same plugin was registered again in a closer scope.
   * Compares entries and not names, so that a middleware that happens to have the name of a plugin is never dropped.
   */
  holds(entry: PluginEntry, from: Scope): boolean {
    const isNamed = from.plugins.get(entry.name) === entry || from.parent?.plugins.get(entry.name) === entry
    for (let scope: Scope = this; isNamed && scope !== from; scope = scope.parent!) {
      if (scope.plugins.get(entry.name)?.scope === scope) return false
      if (scope.parent?.plugins.get(entry.name)?.scope === scope) return false
    }
    return true
  }

  /** The nearest failure handler. */
  get nearestErrorHandler(): ErrorHandler | undefined {
    return this.errorHandler ?? this.parent?.nearestErrorHandler
  }
}

/** The entry at the top of a tree, for registrations on the server itself. */
export const rootEntry = (server: object) => new PluginEntry({ name: 'root' }, new Scope('root', server))

/** `RegisterOptions` for internal use, with the place where the options were written, for messages. */
export interface EnrollOptions extends RegisterOptions {
  /** `plugins.cors`, for example; without it, messages have the name of the plugin and the place of its registration. */
  readonly path?: string | undefined
}

/** The name of a value that is to be registered, for messages. */
export function registeredName(given: unknown): string {
  const plugin = isPluginFactory(given) || isRegistration(given) ? given.plugin.name : undefined
  if (plugin !== undefined) return `the plugin "${plugin}"`
  return typeof given === 'function' ? `the middleware ${nameOf(given)}` : 'something that is neither'
}

/** Accepts all or none: one that is left out may be the guard. */
export function checkRegistrable(list: readonly unknown[]): void {
  const wrong = list.length === 0 ? 0 : list.findIndex((one) => typeof one !== 'function' && !isRegistration(one))
  if (wrong !== -1) throw NotAPluginError(describe(list[wrong]))
}

/** The arguments of `register`; an extra one is an error, because it may be the guard. */
export function registerArguments(args: readonly unknown[]): [plugin: unknown, options: RegisterOptions] {
  const [plugin, options, ...more] = args
  if (more.length > 0) throw RegisterArgumentsError(`It was given ${args.length} arguments`)
  if (typeof options === 'function' || isRegistration(options)) {
    throw RegisterArgumentsError(`The second argument is ${registeredName(options)}: register it by a separate call`)
  }
  const prefix = readPrefix('register', options)
  if (prefix === undefined) return [plugin, {}]
  // A middleware would have a scope of its own, without any routes, and guard nothing.
  if (typeof plugin === 'function' && !isPluginFactory(plugin)) {
    throw RegisterArgumentsError(
      `${nameOf(plugin)} is a middleware, which has no routes for a prefix: write group('${prefix}', [${nameOf(plugin)}], define) around the routes`,
    )
  }
  if (isRegistration(plugin) && plugin.mountPath !== undefined) {
    throw RegisterArgumentsError(
      `${registeredName(plugin)} was given the prefix ${plugin.mountPath} already: keep one of the two`,
    )
  }
  return [plugin, { prefix }]
}

/** A description of a value that was given instead of a plugin. */
export function describe(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  // The value itself is not shown: a string that is registered by mistake may be a secret.
  if (typeof value !== 'object') return typeof value === 'string' ? 'a string' : `a ${typeof value}`
  if (Array.isArray(value)) return 'an array'
  if (value instanceof Promise) return 'a promise'
  return `an object with the keys ${Object.keys(value).join(', ') || '(none)'}`
}
