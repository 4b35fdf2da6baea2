import { contractOf, pluginMark } from '../routing/middleware.ts'
import { parsePattern } from '../routing/pattern.ts'
import { CallSite } from '../support/call-site.ts'
import { ArgumentsError, defineErrors } from '../support/errors.ts'
import { nearest } from '../support/nearest.ts'
import { checkOptions, OptionError, quoted } from '../support/options.ts'
import { isReader, type OptionsReader, type RouteOptionReader } from './options.ts'
import type { Services } from './services.ts'

/** The version of the contract with plugins; it increases when a plugin written for an older kernel would not work with a newer one. */
export const contractVersion = 1

export const { PluginDefinitionError, PluginContractError } = defineErrors({
  PluginDefinitionError: (name: string, why: string) => `definePlugin(${name}): ${why}`,
  PluginContractError: (name: string, theirs: unknown, ours: number) =>
    `the plugin "${name}" was built for plugin contract ${String(theirs)}, this is contract ${ours}. Install versions of the plugin and the framework that belong together`,
})

/**
 * Data that plugins provide for each other, such as description pages or health checks. The kernel knows nothing about it: the plugin that
 * reads a member merges its line into this interface, and announces its name with {@link announcePluginData}.
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface PluginData {}

/** The argument of `setup`: a `Context`. The file of that class, which imports this one, declares its members. */
// biome-ignore lint/correctness/noUnusedVariables: named where it is merged
// biome-ignore lint/suspicious/noEmptyInterface: open for the context
export interface SetupContext<Parsed, Prefix extends string> {}

/** A plugin as its author writes it. */
export interface PluginDefinition<
  Settings,
  Provided extends object,
  Input = Settings,
  Parsed = {},
  Prefix extends string = string,
> extends PluginData {
  /** The name, unique within a scope; other plugins name it in `dependencies`. */
  readonly name: string
  /** The plugin's own version, which listings of the tree show. */
  readonly version?: string
  /** Plugins that must be registered here or in an ancestor; they boot before this one. */
  readonly dependencies?: readonly string[]
  /** Whether it has a context of its own; what it adds then affects only what it registers itself. */
  readonly scoped?: boolean
  /**
   * Path prefix of all its routes, after the prefix of the registration; gives the plugin a scope of its own. Handlers and middlewares
   * of groups see its parameters.
   */
  readonly prefix?: Prefix
  /**
   * Reads the options of the registration: a shape of checks (see `option`), a Standard Schema, a function, or an object of your
   * own with `read(given, place)`. It runs once, when the plugin is registered, and a wrong option fails the registration.
   * `provide` and `setup` receive what it returns.
   */
  readonly options?: OptionsReader<Input, Settings>
  /**
   * The options of a route that this plugin reads, each with its reader, which runs when a route is compiled; `onRoute` hooks find the values
   * in `route.settings`. A route with an option that no plugin of its scope reads fails the boot.
   */
  readonly routeOptions?: { readonly [Name in keyof Parsed]: RouteOptionReader<Settings, Parsed[Name]> }
  /**
   * The settings with which the plugin reaches nothing outside of the process, for a test whose services are in memory (`testServer` of
   * `framework/testing`): those that differ, or a function that returns them; `true` if it never does, `false` if it cannot do without. Without
   * this member, a plugin with a `health` check counts as `false`, which fails the boot of such a test unless the test replaces its services.
   */
  readonly memory?: boolean | Partial<NoInfer<Settings>> | ((settings: NoInfer<Settings>) => Partial<NoInfer<Settings>>)
  /** Creates the services, synchronously and without I/O: they exist as soon as the plugin is registered. */
  provide?(settings: Settings): Provided
  /**
   * Wires the services during boot: middlewares, hooks, routes, connections. May be async. Receives the services of `provide` as its third
   * argument.
   */
  setup?(
    ctx: SetupContext<Parsed, string extends Prefix ? '' : Prefix>,
    settings: Settings,
    services: Provided,
  ): void | Promise<void>
  /**
   * Ends the services of `provide`, after the close hooks of this plugin and of all that were registered later, even if the boot has failed.
   * Without it, each service that has a `Symbol.asyncDispose` is disposed of in this way, once, with the first plugin that provides it.
   */
  close?(services: Provided): void | Promise<void>
}

/** A plugin with its options, ready to be registered: plain data. */
export interface Registration<Provided extends object = object> {
  /** The definition that the factory was made from. */
  readonly plugin: PluginDefinition<never, Provided>
  /** The options that the factory was called with, not yet checked. */
  readonly options: unknown
  /** The prefix that the factory received. It is not called `prefix`, so that a registration is never taken for options of `register`. */
  readonly mountPath?: string | undefined
  /** Where the factory was called, for messages. */
  readonly site: CallSite
}

/** How a plugin is registered. */
export interface RegisterOptions {
  /** Path prefix of all its routes; gives the plugin its own scope. */
  prefix?: string
}

/** What the result of `provide` is checked against: declared services have the declared type, and no service is a promise. */
type CheckedProvided<Provided> = [Provided] extends [never]
  ? // Never taken: `Provided` is inferred from it.
    Provided
  : Provided extends PromiseLike<unknown>
    ? 'services must exist as soon as the plugin is registered: create what takes time in setup, and pass it to ctx.provide'
    : { readonly [Name in keyof Provided]: Name extends keyof Services ? Services[Name] : Provided[Name] }

/**
 * Makes registrations of a plugin; the options may be omitted exactly when the plugin works without them.
 *
 * @example
 * const admin = definePlugin({ name: 'admin', setup: (ctx, options: { title: string }) => ctx.get('/', () => options) })
 * new Server({ plugins: [admin({ title: 'Shop' }, { prefix: '/admin' })] })
 */
export interface PluginFactory<Options, Provided extends object = {}> {
  (
    ...args: undefined extends Options
      ? [options?: Options, register?: RegisterOptions]
      : [options: Options, register?: RegisterOptions]
  ): Registration<Provided>
  /** The definition that the factory was made from. */
  readonly plugin: PluginDefinition<never, Provided>
}

/** The options of a factory. */
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
export function definePlugin<
  Settings = undefined,
  Provided extends object = {},
  Input = Settings,
  Parsed = {},
  const Prefix extends string = '',
>(
  definition: Omit<PluginDefinition<Settings, Provided, Input, Parsed, Prefix>, 'provide'> & {
    /** Creates the services, synchronously and without I/O: they exist as soon as the plugin is registered. */
    provide?(settings: Settings): CheckedProvided<Provided>
  },
): PluginFactory<Input, Provided> {
  const plugin = definition as unknown as PluginDefinition<never, Provided>
  checkDefinition(plugin)
  const factory = (...args: readonly unknown[]): Registration<Provided> => {
    const [options, register, ...more] = args
    if (more.length > 0)
      throw ArgumentsError(definition.name, "its options and how to register it: { prefix: '/path' }, nothing more")
    const mountPath = readPrefix(definition.name, register)
    const registration = { plugin, options, mountPath, site: new CallSite() }
    Object.defineProperty(registration, pluginMark, { value: contractVersion })
    return registration
  }
  Object.defineProperty(factory, 'name', { value: definition.name })
  Object.defineProperty(factory, pluginMark, { value: contractVersion })
  return Object.assign(factory, { plugin }) as PluginFactory<Input, Provided>
}

const functions = ['provide', 'setup', 'close'] as const
const members = ['name', 'version', 'dependencies', 'scoped', 'prefix', 'options', 'routeOptions', ...functions]
/** The members of definitions that some plugin reads from others. */
const data = new Set<string>()

/**
 * Declares that some plugin reads a member of definitions, so that a similar name is refused as misspelt.
 *
 * @example
 * announcePluginData('metrics')
 */
export function announcePluginData(member: string): void {
  data.add(member)
}

function checkDefinition(definition: PluginDefinition<never, object>): void {
  const { name, dependencies, prefix } = definition
  const [options, routeOptions]: unknown[] = [definition.options, definition.routeOptions]
  const fail = (why: string) => PluginDefinitionError(String(name), why)
  if (typeof name !== 'string' || name.trim() === '') throw fail('a plugin needs a name: name: "my-plugin"')
  const isList = Array.isArray(dependencies) && dependencies.every((one) => typeof one === 'string')
  if (dependencies !== undefined && !isList) throw fail('dependencies must be an array of plugin names')
  if (prefix !== undefined) {
    if (typeof prefix !== 'string' || prefix === '') throw fail("prefix must be a path: '/admin'")
    if (parsePattern(prefix)[0]?.segments.at(-1)?.kind === 'wildcard') throw fail('a prefix cannot end in a wildcard')
  }
  if (options !== undefined && !isReader(options))
    throw fail('options must be a shape of checks, option.shape({ … }), a Standard Schema or a function')
  if (routeOptions !== undefined) {
    if (typeof routeOptions !== 'object' || routeOptions === null || Array.isArray(routeOptions))
      throw fail('routeOptions must be an object: { name: what reads the route option }')
    for (const option of Reflect.ownKeys(routeOptions))
      if (!isReader((routeOptions as Record<PropertyKey, unknown>)[option]))
        throw fail(`routeOptions.${String(option)} must be a check, a Standard Schema or a function`)
  }
  checkMembers(definition)
  for (const member of functions) {
    const type = typeof definition[member]
    if (type !== 'undefined' && type !== 'function') throw fail(`${member} must be a function, and its type is ${type}`)
  }
}

/** The prefix in `{ prefix }`, the last argument of `register` and of a plugin's factory. */
export function readPrefix(call: string, given: unknown): string | undefined {
  if (given === undefined) return undefined
  checkOptions(call, given as object, ['prefix'])
  const { prefix } = given as RegisterOptions
  if (prefix === '' || !('prefix' in (given as object))) return undefined
  // An `undefined` is refused, too: a variable without a value would put the routes at the root.
  if (typeof prefix !== 'string') throw OptionError(`${call}.prefix`, quoted(prefix), "a path: '/admin'")
  parsePattern(prefix)
  return prefix
}

/** Refuses a name that is close to that of a member, as misspelt; any other may be the author's own. */
export function checkMembers(definition: PluginDefinition<never, object>): void {
  const known = [...members, ...data]
  for (const member of Object.keys(definition)) {
    const near = known.includes(member) ? undefined : nearest(member, known)
    if (near === undefined) continue
    throw PluginDefinitionError(definition.name, `"${member}" is not a member of a plugin; did you mean "${near}"?`)
  }
}

/**
 * Whether a value is a registration of this contract; a registration of another contract is an error with both numbers.
 *
 * @example
 * const audit = definePlugin({ name: 'audit', setup() {} })
 * isRegistration(audit()) // true
 */
export function isRegistration(value: unknown): value is Registration {
  const contract = contractOf(value)
  if (contract === undefined || typeof value === 'function') return false
  if (contract !== contractVersion) {
    throw PluginContractError(String((value as Registration).plugin?.name), contract, contractVersion)
  }
  return true
}

/**
 * Whether a value is a factory that was not called.
 *
 * @example
 * const audit = definePlugin({ name: 'audit', setup() {} })
 * isPluginFactory(audit) // true
 */
export function isPluginFactory(value: unknown): value is PluginFactory<unknown, object> {
  return typeof value === 'function' && contractOf(value) !== undefined
}
