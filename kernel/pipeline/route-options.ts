import { readOption } from '../plugin/options.ts'
import type { PluginEntry, Scope } from '../plugin/scope.ts'
import { description } from '../routing/arguments.ts'
import { RouteOptionError, type RouteRecord } from '../routing/collection.ts'
import { defineErrors, isFrameworkError, messageOf } from '../support/errors.ts'
import type { Logger } from '../support/logger.ts'
import { nearest } from '../support/nearest.ts'
import { OptionPlace, optionNames } from '../support/options.ts'

const { RouteOptionConflictError } = defineErrors({
  RouteOptionConflictError: (option: string, first: PluginEntry, second: PluginEntry) =>
    `the plugins "${first.name}" (registered at ${first.site}) and "${second.name}" (at ${second.site}) both take the route option "${option}". Register one of them in a scope of its own`,
})

/** The options of the kernel's own call forms; every other option belongs to a plugin, which names it in its definition. */
const own: readonly PropertyKey[] = ['middlewares', description]

/** The plugin that would read an option if it were registered. */
export interface AbsentPlugin {
  /** The key of the plugin in the option `plugins`. */
  readonly plugin: string
  /** What its absence means: intended, a loss that a warning reports, or a mistake, because others rely on it; `needed`: even where it was turned off. */
  readonly absence: 'meant' | 'warning' | 'error' | 'needed'
  /** Reads the option nevertheless, where a mistake in it does harm even without the plugin. */
  readonly reader?: unknown
}

/** The plugins that read the options of a scope's routes; where a plugin is registered again in a closer scope, the closer one. */
interface Taken {
  readonly owners: ReadonlyMap<PropertyKey, PluginEntry>
  readonly known: ReadonlySet<PropertyKey>
}

/** An option that does nothing, because its plugin is missing. */
export interface IdleOption {
  readonly option: string
  readonly plugin: string
  readonly route: string
}

const taken = new WeakMap<Scope, Taken>()

function takenIn(scope: Scope): Taken {
  const there = taken.get(scope)
  if (there !== undefined) return there
  const { lineage } = scope
  const owners = new Map<PropertyKey, PluginEntry>()
  for (const from of lineage) {
    for (const entry of from.plugins.values()) {
      // A plugin that is registered again in a closer scope adds nothing here: it would read an option without any effect.
      if (!lineage.includes(entry.scope) || !scope.holds(entry, entry.scope)) continue
      for (const option of Reflect.ownKeys(entry.definition.routeOptions ?? {})) {
        const before = owners.get(option)
        if (before !== undefined && before.name !== entry.name)
          throw RouteOptionConflictError(String(option), before, entry)
        owners.set(option, entry)
      }
    }
  }
  const all = { owners, known: new Set([...own, ...owners.keys()]) }
  taken.set(scope, all)
  return all
}

/** Where a route was registered, as far as that is known. */
export function placeOf(record: RouteRecord, owner: PluginEntry | undefined): string {
  const site = String(record.site)
  return owner === undefined ? site : `${site}, by the plugin "${owner.name}"`
}

/** The values of the options of one route, by the plugin that reads them. */
export type ParsedOptions = ReadonlyMap<PluginEntry, Readonly<Record<PropertyKey, unknown>>>

/**
 * Reads the options of a route, each by its plugin. A misspelt guard would silently leave its route open, so an unknown name is an
 * error. `check` then checks the names; it receives those that an `onRoute` hook has read and whose plugin
 * declares none, and returns the options that do nothing, for a warning.
 *
 * @throws RouteOptionError, as `check` does for any other option that no plugin reads.
 */
export function readRouteOptions(
  record: RouteRecord,
  owner: PluginEntry | undefined,
  scope: Scope,
  absentPlugin: (option: string) => AbsentPlugin | undefined,
): { readonly parsed: ParsedOptions; check(read: ReadonlySet<PropertyKey>): IdleOption[] } {
  const { owners, known } = takenIn(scope)
  const absentOf = (name: PropertyKey) => (typeof name === 'string' ? absentPlugin(name) : undefined)
  const { method, path } = record
  const options = record.options as Readonly<Record<PropertyKey, unknown>>
  const place = new OptionPlace('')
  const parsed = new Map<PluginEntry, Record<PropertyKey, unknown>>()
  const fail = (what: string) => RouteOptionError(`${method} ${path}`, placeOf(record, owner), what)
  for (const name of optionNames(options)) {
    const entry = owners.get(name)
    const readers = entry?.definition.routeOptions as Readonly<Record<PropertyKey, unknown>> | undefined
    const reader = entry === undefined ? absentOf(name)?.reader : readers?.[name]
    if (reader === undefined) continue
    const route = { method, path, options, settings: entry?.settings, known }
    try {
      const value = readOption(reader, options[name], place.in(String(name)), route)
      if (entry !== undefined) parsed.set(entry, { ...parsed.get(entry), [name]: value })
    } catch (error) {
      if (isFrameworkError(error)) throw error
      throw Object.assign(fail(`the option "${String(name)}" cannot be read: ${messageOf(error)}`), { cause: error })
    }
  }
  if (!place.isFine) throw fail(place.summary)

  const check = (read: ReadonlySet<PropertyKey>) => {
    const idle: IdleOption[] = []
    for (const key of optionNames(options)) {
      if (known.has(key) || read.has(key)) continue
      const name = typeof key === 'symbol' ? String(key.description) : key
      const absent = absentOf(key)
      // `false` means "not here", which is true without the plugin. Plugins' own routes use it whether the option is known or not.
      if (options[key] === false && (absent !== undefined || owner !== undefined)) continue
      if (absent === undefined) throw fail(describeUnknown(name, known))
      const { plugin, absence } = absent
      if (absence === 'warning')
        idle.push({ option: name, plugin, route: `${method} ${path} (${placeOf(record, owner)})` })
      else if (absence !== 'meant') throw fail(describeAbsent(name, plugin, absence === 'error'))
    }
    return idle
  }
  return { parsed, check }
}

function describeAbsent(option: string, plugin: string, mayBeOff: boolean): string {
  return `the plugin "${plugin}", which takes the route option "${option}", is not registered in its scope. Register it, plugins: { ${plugin}: … }, or ${mayBeOff ? `turn it off, plugins: { ${plugin}: false }` : 'remove the option'}`
}

function describeUnknown(name: string, known: ReadonlySet<PropertyKey>): string {
  const names = [...known].filter((one) => typeof one === 'string')
  const near = nearest(name, names)
  const remedy = near === undefined ? 'Register' : `Did you mean "${near}"? Otherwise register`
  return `no registered plugin takes the route option "${name}". ${remedy} the plugin that takes it, in this scope or an outer one; its definition names the option in routeOptions. Route options that are taken here: ${names.sort().join(', ')}`
}

/** Warns once for each option, not for each route: only one plugin is missing. */
export function reportIdle(idle: readonly IdleOption[], logger: Logger): void {
  for (const option of new Set(idle.map((one) => one.option))) {
    const [first, ...others] = idle.filter((one) => one.option === option)
    const { route, plugin } = first!
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    logger.warn({ option, plugin }, `${route}${more}: ${describeAbsent(option, plugin, true)}`)
  }
}
