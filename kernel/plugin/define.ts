import type { RouteOptions } from '../routing/options.ts'
import { CallSite } from '../support/call-site.ts'
import { defineError } from '../support/errors.ts'
import { nearest } from '../support/nearest.ts'
import { contractOf, pluginMark } from '../support/plugin-mark.ts'
import type { CommandDefinition } from './command-definition.ts'
import type { Context } from './context.ts'

/** Goes up when a plugin written for an older kernel would not work with a newer one. */
export const contractVersion = 1

export const PluginDefinitionError = defineError(
  'PluginDefinitionError',
  500,
  (name: string, why: string) => `definePlugin(${name}): ${why}`,
)
export const PluginContractError = defineError(
  'PluginContractError',
  500,
  (name: string, theirs: unknown, ours: number) =>
    `the plugin "${name}" was built for plugin contract ${String(theirs)}, this is contract ${ours}. Install versions of the plugin and the framework that belong together`,
)

/** A route, for a plugin that says what it answers in place of the handler. */
export interface DescribedRoute {
  readonly method: string
  /** As registered, with the prefixes of its groups: `/users/:id`. */
  readonly path: string
  readonly options: RouteOptions
  /** What the plugin was registered with. */
  readonly settings: unknown
}

/** Data that a plugin adds to the API description. */
export interface OpenApiFragment {
  readonly tags?: readonly { name: string; description?: string }[]
  readonly components?: { readonly [kind: string]: { readonly [name: string]: object } }
  /**
   * Says what the plugin's own options of a route mean, in options that the description knows: schemas (`body`, `query`,
   * …, `responses`) and `apidoc`. Called for each route that the plugin reaches.
   */
  describe?(options: RouteOptions): readonly RouteOptions[]
  /**
   * Says what the plugin answers in place of the handler: names of responses by status, of the framework's own (`BadRequest`,
   * `Unauthorized`, `PayloadTooLarge`, `UnsupportedMediaType`, `ValidationError`, `TooManyRequests`) or of
   * `components.responses`, where one without `content` gets the body of every failure, `{ code, message }`. Called for
   * each route that the plugin reaches.
   */
  failures?(route: DescribedRoute): { readonly [status: string]: string | undefined }
}

/** A plugin as its author writes it. */
export interface PluginDefinition<Options, Provided extends object> {
  /** Unique within a scope; what `dependencies` of others name. */
  readonly name: string
  readonly version?: string
  /** Plugins that must be registered here or in an ancestor; they boot before this one. */
  readonly dependencies?: readonly string[]
  /** A context of its own: what it adds reaches only what it registers itself. */
  readonly scoped?: boolean
  /**
   * The options of a route that this plugin reads in its `onRoute` hooks. A route that has an option which no plugin of its scope
   * names fails the boot.
   */
  readonly routeOptions?: readonly (keyof RouteOptions | symbol)[]
  /** Makes the services, at once and without I/O: they exist as soon as the plugin is registered. */
  provide?(options: Options): Provided
  /** Wires them, during boot: middlewares, hooks, routes, connections. May be async. */
  setup?(ctx: Context, options: Options): void | Promise<void>
  /** Commands for the command line, loaded when it needs them. */
  commands?(): Promise<readonly CommandDefinition[]>
  readonly openapi?: OpenApiFragment
}

/** A plugin with its options, ready to be registered: plain data. */
export interface Registration<Provided extends object = object> {
  readonly plugin: PluginDefinition<never, Provided>
  readonly options: unknown
  readonly site: CallSite
}

/** Refuses a `provide` that is asynchronous: services are there as soon as the plugin is registered. */
type AtOnce<Provided> = Provided extends PromiseLike<unknown> ? { readonly provide: never } : unknown

/** Makes registrations; its options may be left out exactly when the plugin can do without them. */
export interface PluginFactory<Options, Provided extends object = {}> {
  (...args: undefined extends Options ? [options?: Options] : [options: Options]): Registration<Provided>
  readonly plugin: PluginDefinition<Options, Provided>
}

/** The options that a factory takes. */
export type OptionsOf<Factory> = Factory extends PluginFactory<infer Options, object> ? Options : never

/**
 * Defines a plugin and returns its factory.
 *
 * `provide` runs when the plugin is registered, `setup` during boot, depth first and in order; a plugin that depends
 * on a later one of the same list boots after it.
 *
 * @throws PluginDefinitionError for a definition without a name or with members of the wrong type.
 * @example
 * export const greeter = definePlugin({
 *   name: 'greeter',
 *   setup(ctx, options: { greeting?: string } = {}) {
 *     ctx.get('/hello', () => ({ hello: options.greeting ?? 'world' }))
 *   },
 * })
 * new Server({ plugins: [greeter({ greeting: 'you' })] })
 */
export function definePlugin<Options = undefined, Provided extends object = {}>(
  definition: PluginDefinition<Options, Provided> & AtOnce<Provided>,
): PluginFactory<Options, Provided> {
  checkDefinition(definition)
  const factory = (options?: unknown): Registration<Provided> => {
    const registration = { plugin: definition as PluginDefinition<never, Provided>, options, site: new CallSite() }
    Object.defineProperty(registration, pluginMark, { value: contractVersion })
    return registration
  }
  Object.defineProperty(factory, 'name', { value: definition.name })
  Object.defineProperty(factory, pluginMark, { value: contractVersion })
  return Object.assign(factory, { plugin: definition }) as PluginFactory<Options, Provided>
}

const members = ['name', 'version', 'dependencies', 'scoped', 'routeOptions', 'provide', 'setup', 'commands', 'openapi']

function checkDefinition(definition: PluginDefinition<never, object> | PluginDefinition<unknown, object>): void {
  const { name, dependencies, routeOptions } = definition
  if (typeof name !== 'string' || name.trim() === '') {
    throw PluginDefinitionError(String(name), 'a plugin needs a name: name: "my-plugin"')
  }
  if (
    dependencies !== undefined &&
    (!Array.isArray(dependencies) || dependencies.some((one) => typeof one !== 'string'))
  ) {
    throw PluginDefinitionError(name, 'dependencies must be an array of plugin names')
  }
  const isName = (one: unknown) => typeof one === 'string' || typeof one === 'symbol'
  if (routeOptions !== undefined && (!Array.isArray(routeOptions) || !routeOptions.every(isName))) {
    throw PluginDefinitionError(name, 'routeOptions must be an array of names of route options')
  }
  for (const member of Object.keys(definition)) {
    // What is close to a member is meant to be that one; anything else may be its author's own.
    const near = members.includes(member) ? undefined : nearest(member, members)
    if (near !== undefined) {
      throw PluginDefinitionError(name, `"${member}" is no member of a plugin; did you mean "${near}"?`)
    }
  }
  for (const member of ['provide', 'setup', 'commands'] as const) {
    const value: unknown = definition[member]
    if (value !== undefined && typeof value !== 'function') {
      throw PluginDefinitionError(name, `${member} must be a function, it is a ${typeof value}`)
    }
  }
}

/** Whether a value is a registration of this contract; one of another contract is an error with both numbers. */
export function isRegistration(value: unknown): value is Registration {
  const contract = contractOf(value)
  if (contract === undefined || typeof value === 'function') return false
  if (contract !== contractVersion) {
    throw PluginContractError(String((value as Registration).plugin?.name), contract, contractVersion)
  }
  return true
}

/** Whether a value is a factory that was not called. */
export function isPluginFactory(value: unknown): value is PluginFactory<unknown, object> {
  return typeof value === 'function' && contractOf(value) !== undefined
}
