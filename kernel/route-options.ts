import type { PluginEntry, Scope } from './plugin/scope.ts'
import type { RouteRecord } from './routing/collection.ts'
import { optionNames } from './routing/options.ts'
import { defineError } from './support/errors.ts'
import type { Logger } from './support/logger.ts'
import { nearest } from './support/nearest.ts'

export const UnknownRouteOptionError = defineError(
  'UnknownRouteOptionError',
  500,
  (route: string, place: string, what: string) => `${route} (registered at ${place}): ${what}`,
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

/** The names of the options that a route of a scope can have: those of the kernel and of the plugins that reach it. */
function optionsIn(scope: Scope): ReadonlySet<PropertyKey> {
  const { lineage } = scope
  const entries = lineage.flatMap((from) => [...from.plugins.values()]).filter((entry) => lineage.includes(entry.scope))
  return new Set([...own, ...entries.flatMap(({ definition }) => definition.routeOptions ?? [])])
}

/** Where a route was registered, as far as that is known. */
export function placeOf(record: RouteRecord, owner: PluginEntry | undefined): string {
  const site = String(record.site)
  return owner === undefined ? site : `${site}, by the plugin "${owner.name}"`
}

/**
 * Checks the names in the options of routes. A misspelt guard would leave its route open without a word, so a name that
 * nothing takes is an error.
 */
export class RouteOptionCheck {
  readonly #known = new Map<Scope, ReadonlySet<PropertyKey>>()
  readonly #absent: (option: string) => AbsentPlugin | undefined

  constructor(absent: (option: string) => AbsentPlugin | undefined) {
    this.#absent = absent
  }

  /**
   * `read` are those that an `onRoute` hook has asked for whose plugin declares none.
   *
   * @returns those that do nothing, to warn of.
   * @throws UnknownRouteOptionError for any other that nothing takes.
   */
  check(
    record: RouteRecord,
    owner: PluginEntry | undefined,
    scope: Scope,
    read: ReadonlySet<PropertyKey>,
  ): IdleOption[] {
    const known = this.#known.get(scope) ?? optionsIn(scope)
    this.#known.set(scope, known)
    const options = record.options as Readonly<Record<PropertyKey, unknown>>
    const route = `${record.method} ${record.path}`
    const fail = (what: string) => UnknownRouteOptionError(route, placeOf(record, owner), what)
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
