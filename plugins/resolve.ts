import {
  defineErrors,
  didYouMean,
  isPluginFactory,
  isPromise,
  isRegistration,
  type Middleware,
  type OptionsOf,
  optionNames,
  type PluginFactory,
  type Registration,
} from '../kernel/index.ts'
import { type Catalog, type CatalogKey, catalog, core, factoryOf, onByDefault } from './catalog.ts'
import { inspectorRequest } from './shared/development/inspector-request.ts'
import { isProduction } from './shared/environment/node-env.ts'

const { UnknownPluginError, PluginFormError } = defineErrors({
  UnknownPluginError: (key: string, known: readonly string[]) =>
    `plugins.${key} is not a plugin of the catalog.${didYouMean(key, known)} The catalog has ${known.join(', ')}; under any other key pass a registration: ${key}: myPlugin({ … })`,
  PluginFormError: (key: string, why: string) => `plugins${key && (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)} ${why}`,
})

/** One item of the array form. */
export type PluginListItem = Registration | PluginFactory<undefined, object> | Middleware | false

/** The options of a plugin in the catalog. */
export type CatalogOptions<Key extends CatalogKey> = Extract<OptionsOf<Catalog[Key]>, object>

/** The value of a key of the catalog: the plugin's options, `true` for its defaults, `false` for off, or a plugin that replaces it. */
export type CatalogValue<Key extends CatalogKey> =
  | false
  // `true` is not allowed if an option is required: the secret of sessions has no default.
  | (undefined extends OptionsOf<Catalog[Key]> ? true : never)
  | Registration
  | CatalogOptions<Key>

/** What the `plugins` option can be before its keys are checked. */
export type PluginsOption =
  | readonly PluginListItem[]
  // The catalog's keys are listed, so that the parameters of functions among their options are typed.
  | ({ readonly [Key in CatalogKey]?: CatalogValue<Key> } & { readonly [key: string]: unknown })

/** The type with which a `plugins` option is compared: a misspelt key, or a plain value under a key of your own, does not compile. */
export type CheckedPlugins<Plugins> = Plugins extends readonly unknown[]
  ? readonly PluginListItem[]
  : Plugins extends Registration
    ? 'pass one plugin in an array: plugins: [myPlugin()]'
    : string extends keyof Plugins
      ? Plugins
      : Plugins extends object | undefined
        ? {
            readonly [Key in keyof Plugins]: Key extends CatalogKey
              ? Plugins[Key] extends Registration
                ? Registration
                : Plugins[Key] extends object
                  ? // Without the other forms, so that the compiler can suggest the intended name.
                    CatalogOptions<Key> & DefaultAmong<Plugins[Key]>
                  : CatalogValue<Key>
              : CheckedFreeValue<Key, Plugins[Key]>
          }
        : PluginsOption

/** A default is the name of one of the given providers, or a `string` that is known only at run time. */
type DefaultAmong<Given> = Given extends { readonly providers: infer Providers; readonly defaultProvider: infer Name }
  ? string extends Name
    ? unknown
    : { readonly defaultProvider: keyof Providers & string }
  : unknown

type FreeValue = Registration | PluginFactory<undefined, object> | false

type CheckedFreeValue<Key, Value> = Value extends FreeValue
  ? Value
  : Value extends Function
    ? `${Key & string} is a function: pass a middleware to server.use()`
    : `${Key & string} is not a plugin of the framework. One of your own: { ${Key & string}: ${Key & string}() }`

type UnionToIntersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : {}

type ProvidedByItem<Item> = Item extends Registration<infer Provided> ? Provided : {}

/** The services of one key. A plugin that may be off provides nothing for certain. */
type ProvidedByKey<Key, Value> = false extends Value
  ? {}
  : undefined extends Value
    ? {}
    : Value extends Registration<infer Provided>
      ? Provided
      : Key extends CatalogKey
        ? Catalog[Key] extends PluginFactory<never, infer Provided>
          ? Provided
          : {}
        : {}

/** The services that a `plugins` option provides. */
export type ProvidedBy<Plugins> = UnionToIntersection<
  Plugins extends readonly (infer Item)[]
    ? ProvidedByItem<Item>
    : { [Key in keyof Plugins]-?: ProvidedByKey<Key, Plugins[Key]> }[keyof Plugins]
>

const BareFunctionError = (key: string) =>
  PluginFormError(
    key,
    'is a bare function. Pass a middleware to server.use(fn), or in the array form, plugins: [fn]; pass a plugin as the result of its factory',
  )

type Given = Registration | PluginFactory<unknown, object> | undefined

/** The plugin of a value that needs no key: none of `false`. Other values are left to `read`. */
function pluginOf(key: string, value: unknown, read: () => Given): Given {
  if (value === false) return undefined
  if (isRegistration(value) || isPluginFactory(value)) return value
  if (typeof value === 'function') throw BareFunctionError(key)
  return read()
}

const fromCatalog = (key: CatalogKey, value: unknown): Given =>
  pluginOf(key, value, () => {
    if (value === true) return factoryOf(key)()
    // `static` accepts a list of roots; no other first-party plugin accepts an array.
    if (typeof value === 'object' && value !== null) return factoryOf(key)(value)
    throw PluginFormError(
      key,
      `is ${kindOf(value)}. It takes options ({ … }), true for the defaults, false for off, or a registration`,
    )
  })

const fromFreeKey = (key: string, value: unknown): Given =>
  pluginOf(key, value, () => {
    throw UnknownPluginError(key, Object.keys(catalog))
  })

const kindOf = (value: unknown) => (value === null ? 'null' : `a ${typeof value}`)

/** A plugin to register, with the path of its option; `undefined` for a plugin given as a registration. */
export interface Resolved {
  readonly plugin: unknown
  readonly path: string | undefined
}

/** Resolves a value; a plugin given as a registration received its options in the call of its factory, so it has no path. */
const at = (path: string, given: unknown, plugin: unknown): Resolved => ({
  plugin,
  path: given === plugin ? undefined : path,
})

const byItself = (factory: unknown): Resolved => ({
  plugin: (factory as PluginFactory<unknown, object>)(),
  path: undefined,
})

/** Refuses `undefined`: a value missing through a wrong import or configuration may be a guard, so only `false` leaves a plugin out. */
function present(key: string, value: unknown): unknown {
  if (value === undefined) throw PluginFormError(key, 'is undefined. Check its import, or write false to leave it out')
  return value
}

/** Whether a plugin is on without being given: by default, or the inspector if the development server enables it. */
const isOnByItself = (key: CatalogKey) =>
  onByDefault.includes(key) || (key === 'inspector' && inspectorRequest() !== undefined && !isProduction())

function resolveObject(plugins: { readonly [key: string]: unknown }): Resolved[] {
  const list: Resolved[] = []
  for (const key of Object.keys(catalog) as CatalogKey[]) {
    if (Object.hasOwn(plugins, key)) {
      const given = present(key, plugins[key])
      list.push(at(`plugins.${key}`, given, fromCatalog(key, given)))
    } else if (isOnByItself(key)) list.push(byItself(factoryOf(key)))
  }
  // Includes inherited keys: a promise, a Map or a Set has only inherited ones, and the application would silently have no plugin.
  for (const key of optionNames(plugins)) {
    if (typeof key === 'symbol') throw PluginFormError(String(key), 'is a symbol. Every plugin has a name')
    const isOwn = Object.hasOwn(plugins, key)
    if (!isOwn && Object.hasOwn(catalog, key)) throw PluginFormError(key, 'is inherited. Set it on the object itself')
    if (!Object.hasOwn(catalog, key))
      list.push({ plugin: fromFreeKey(key, present(key, plugins[key])), path: undefined })
  }
  return list.filter(({ plugin }) => plugin !== undefined)
}

function namesOf(list: readonly Resolved[]): Set<string | undefined> {
  const nameOf = (one: unknown) => (isPluginFactory(one) || isRegistration(one) ? one.plugin.name : undefined)
  return new Set(list.map(({ plugin }) => nameOf(plugin)))
}

function resolveArray(plugins: readonly unknown[]): Resolved[] {
  // Includes holes, which `filter` would skip.
  const given = Array.from(plugins, (one, i) => present(String(i), one))
    .filter((one) => one !== false)
    .map((plugin) => ({ plugin, path: undefined }))
  const names = namesOf(given)
  const keys = (Object.keys(catalog) as CatalogKey[]).filter(isOnByItself)
  const missing = keys.map(factoryOf).filter(({ plugin }) => !names.has(plugin.name))
  return [...missing.map(byItself), ...given]
}

/** Server options that are shortcuts for a plugin of the catalog, by the plugin's key. */
export type PluginShortcuts = { readonly [Key in CatalogKey]?: CatalogValue<Key> }

/** The names of these options that differ from the key of the plugin. */
const shortcutNames: { readonly [Key in CatalogKey]?: string } = {
  cron: 'background.crons',
  queues: 'background.queues',
  mqtt: 'background.mqtt',
}

/**
 * Turns every form of the `plugins` option into one list for `register`: first the core plugins that are not given, then the object
 * form in the order of the catalog, followed by keys of your own as written, or the array form as given. Plugins that are on by default
 * are added if they are neither given nor turned off. The plugins of the other options come last.
 */
export function resolvePlugins(plugins: PluginsOption | undefined, shortcuts: PluginShortcuts = {}): Resolved[] {
  const given = resolveOption(plugins)
  const names = namesOf(given)
  for (const [key, value] of Object.entries(shortcuts)) {
    if (value === undefined || value === false) continue
    const option = shortcutNames[key as CatalogKey] ?? key
    if (names.has(key)) throw PluginFormError(key, `is given as the server's option "${option}" too. Keep one of them`)
    if (turnedOff(plugins, key))
      throw PluginFormError(key, `is false, and the server's option "${option}" is given. Keep one`)
    // `background` contains the jobs as one of several options of the cron plugin.
    given.push(at(key === 'cron' ? 'background' : option, value, fromCatalog(key as CatalogKey, value)))
  }
  return [...core.filter(({ plugin }) => !names.has(plugin.name)).map(byItself), ...given]
}

const turnedOff = (plugins: PluginsOption | undefined, key: string) =>
  (plugins as { readonly [key: string]: unknown } | undefined)?.[key] === false

function resolveOption(plugins: PluginsOption | undefined): Resolved[] {
  if (plugins === undefined) return resolveObject({})
  if (Array.isArray(plugins)) return resolveArray(plugins)
  if (typeof plugins !== 'object' || plugins === null) {
    throw PluginFormError('', `is ${kindOf(plugins)}. It takes an object or an array`)
  }
  if (isPromise(plugins)) throw PluginFormError('', 'is a promise. Write await before it')
  if (isRegistration(plugins)) {
    throw PluginFormError(
      '',
      `is the plugin "${plugins.plugin.name}" by itself. Put it in an array: plugins: [${plugins.plugin.name}()]`,
    )
  }
  return resolveObject(plugins as { readonly [key: string]: unknown })
}
