import { readOption } from '../plugin/options.ts'
import type { PluginEntry, Scope } from '../plugin/scope.ts'
import type { RouteRecord } from '../routing/collection.ts'
import { defineError } from '../support/errors.ts'
import type { Logger } from '../support/logger.ts'
import { nearest } from '../support/nearest.ts'
import { OptionPlace, optionNames } from '../support/options.ts'

export const RouteOptionError = defineError(
  'RouteOptionError',
  500,
  (route: string, place: string, what: string) => `${route} (registered at ${place}): ${what}`,
)

const RouteOptionConflictError = defineError(
  'RouteOptionConflictError',
  500,
  (option: string, first: PluginEntry, second: PluginEntry) =>
    `the plugins "${first.name}" (registered at ${first.site}) and "${second.name}" (at ${second.site}) both take the route option "${option}". Register one of them in a scope of its own`,
)

/** The kernel's own; every other one belongs to a plugin, which names it in its definition. */
const own: readonly PropertyKey[] = ['middlewares', 'apidoc']

/** The plugin that would take an option if it were registered. */
export interface AbsentPlugin {
  readonly plugin: string
  /** What its absence is: meant, a loss that a warning tells, or a mistake, for who sets a limit counts on it. */
  readonly absence: 'meant' | 'warning' | 'error'
}

/** An option that does nothing, because its plugin is not there. */
export interface IdleOption {
  readonly option: string
  readonly plugin: string
  readonly route: string
}

/** The plugins that take the options of a scope's routes, by option; of one that is registered again nearer that one. */
function ownersIn(scope: Scope): ReadonlyMap<PropertyKey, PluginEntry> {
  const { lineage } = scope
  const owners = new Map<PropertyKey, PluginEntry>()
  for (const from of lineage) {
    for (const entry of from.plugins.values()) {
      if (!lineage.includes(entry.scope)) continue
      for (const option of Reflect.ownKeys(entry.definition.routeOptions ?? {})) {
        const before = owners.get(option)
        if (before !== undefined && before.name !== entry.name)
          throw RouteOptionConflictError(String(option), before, entry)
        owners.set(option, entry)
      }
    }
  }
  return owners
}

/** Where a route was registered, as far as that is known. */
export function placeOf(record: RouteRecord, owner: PluginEntry | undefined): string {
  const site = String(record.site)
  return owner === undefined ? site : `${site}, by the plugin "${owner.name}"`
}

/** What the options of one route mean, by the plugin that takes them. */
export type ParsedOptions = ReadonlyMap<PluginEntry, Readonly<Record<PropertyKey, unknown>>>

/**
 * Reads the options of routes, each by the plugin that takes it. A misspelt guard would leave its route open without a word, so
 * a name that nothing takes is an error.
 */
export class RouteOptionReading {
  readonly #owners = new Map<Scope, ReadonlyMap<PropertyKey, PluginEntry>>()
  readonly #absent: (option: string) => AbsentPlugin | undefined

  constructor(absent: (option: string) => AbsentPlugin | undefined) {
    this.#absent = absent
  }

  /**
   * @throws RouteOptionError that reports everything which is wrong with the options of the route.
   */
  parse(record: RouteRecord, owner: PluginEntry | undefined, scope: Scope): ParsedOptions {
    const owners = this.#ownersIn(scope)
    const { method, path, options } = record
    const place = new OptionPlace('')
    const parsed = new Map<PluginEntry, Record<PropertyKey, unknown>>()
    for (const name of optionNames(options)) {
      const entry = owners.get(name)
      if (entry === undefined) continue
      const { settings, definition } = entry
      const reader: unknown = (definition.routeOptions as Readonly<Record<PropertyKey, unknown>>)[name]
      const given = (options as Readonly<Record<PropertyKey, unknown>>)[name]
      const route = { method, path, options, settings }
      const value = readOption(reader, given, place.in(String(name)), route)
      parsed.set(entry, { ...parsed.get(entry), [name]: value })
    }
    if (!place.isFine) throw RouteOptionError(`${method} ${path}`, placeOf(record, owner), place.summary)
    return parsed
  }

  /**
   * Checks the names. `read` are those that an `onRoute` hook has asked for whose plugin declares none.
   *
   * @returns those that do nothing, to warn of.
   * @throws RouteOptionError for any other that nothing takes.
   */
  check(
    record: RouteRecord,
    owner: PluginEntry | undefined,
    scope: Scope,
    read: ReadonlySet<PropertyKey>,
  ): IdleOption[] {
    const owners = this.#ownersIn(scope)
    const known = new Set<PropertyKey>([...own, ...owners.keys()])
    const options = record.options as Readonly<Record<PropertyKey, unknown>>
    const route = `${record.method} ${record.path}`
    const fail = (what: string) => RouteOptionError(route, placeOf(record, owner), what)
    const idle: IdleOption[] = []
    for (const key of optionNames(options)) {
      const value = options[key]
      if (value === undefined || known.has(key) || read.has(key)) continue
      const name = typeof key === 'symbol' ? String(key.description) : key
      const absent = typeof key === 'symbol' ? undefined : this.#absent(name)
      // «Nothing of it here» holds without the plugin. A plugin's own routes say so whether it is known or not.
      if (value === false && (absent !== undefined || owner !== undefined)) continue
      if (absent === undefined) throw fail(describeUnknown(name, known))
      const { plugin, absence } = absent
      if (absence === 'error') throw fail(describeAbsent(name, plugin))
      if (absence === 'warning') idle.push({ option: name, plugin, route: `${route} (${placeOf(record, owner)})` })
    }
    for (const name of Object.keys(Object(options.apidoc))) {
      const meant = misplacedIn(name, known)
      if (meant === undefined) continue
      const what = meant === name ? 'It' : `Did you mean "${meant}"? That`
      throw fail(`"${name}" stands in its apidoc, where it does nothing. ${what} is an option of the route itself`)
    }
    return idle
  }

  #ownersIn(scope: Scope): ReadonlyMap<PropertyKey, PluginEntry> {
    const owners = this.#owners.get(scope) ?? ownersIn(scope)
    this.#owners.set(scope, owners)
    return owners
  }
}

/** Members of an operation (OpenAPI 3.1 section 4.8.10.1): those of a description. */
const described = [
  'tags',
  'summary',
  'description',
  'externalDocs',
  'operationId',
  'parameters',
  'requestBody',
  'responses',
  'callbacks',
  'deprecated',
  'security',
  'servers',
]

/** The option that somebody has meant who wrote this into the description; nothing where it belongs there. */
function misplacedIn(name: string, known: ReadonlySet<PropertyKey>): string | undefined {
  if (described.includes(name) || name.startsWith('x-')) return undefined
  if (known.has(name)) return name
  const near = nearest(
    name,
    [...known, ...described].filter((one) => typeof one === 'string'),
  )
  return near === undefined || described.includes(near) ? undefined : near
}

function describeAbsent(option: string, plugin: string): string {
  return `the plugin "${plugin}", which takes the route option "${option}", is not registered in its scope. Register it, plugins: { ${plugin}: … }, or turn it off, plugins: { ${plugin}: false }`
}

function describeUnknown(name: string, known: ReadonlySet<PropertyKey>): string {
  const names = [...known].filter((one) => typeof one === 'string')
  const near = nearest(name, names)
  const guess = near === undefined ? '' : ` Did you mean "${near}"?`
  return `no plugin here takes the route option "${name}".${guess} There are ${names.sort().join(', ')}; a plugin names those that it reads in routeOptions of its definition`
}

/** Warns once of each option and not of each route: what is missing is one plugin. */
export function reportIdle(idle: readonly IdleOption[], logger: Logger): void {
  for (const option of new Set(idle.map((one) => one.option))) {
    const [first, ...others] = idle.filter((one) => one.option === option)
    const { route, plugin } = first!
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    logger.warn({ option, plugin }, `${route}${more}: ${describeAbsent(option, plugin)}`)
  }
}
