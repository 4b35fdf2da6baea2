import { isAbsolute, relative } from 'node:path'
import { isUpgradeAlone, type Kernel, type Middleware, type RouteOptions } from '../../kernel/index.ts'
import type { ListedPlugin } from '../../kernel/inspection.ts'
import type { PluginEntry, Scope } from '../../kernel/plugin/scope.ts'
import { catalog, core } from '../../plugins/catalog.ts'
import {
  type AccessConditions,
  type AccessDemands,
  conditionsOf,
  type GuardedWay,
} from '../../plugins/shared/development/access.ts'
import type { FullListing } from '../../plugins/shared/development/inspection.ts'
import { guardsOf } from '../../plugins/shared/http/guards.ts'
import { redact } from '../../plugins/shared/values/redact.ts'
import { factOf } from './facts.ts'
import { nothing, type Unseen } from './look.ts'

/** A way in, with what must hold before a request comes through it. */
export interface WayIn {
  /** Its method and path: `GET /users/:id`. */
  readonly way: string
  readonly facts: readonly string[]
  /** The plugin that added it, and where it is declared: file, line and column. */
  readonly by: string
  readonly at: string
  /** Why it cannot be seen. */
  readonly why?: string
}

/** The middlewares of the application that see every request. */
export const everyRequest = 'ANY *'

/** A middleware of a scope, with the plugin that added it. */
type Placed = Scope['middlewares'][number]

const ownOptions = new Set(
  [...Object.values(catalog), ...core].flatMap(({ plugin }) => Reflect.ownKeys(plugin.routeOptions ?? {})),
)

/** All ways in of a booted server, by path. */
export function waysOf(server: Kernel, unseen: Unseen): WayIn[] {
  const listing = server.listing as FullListing
  const { plugins } = listing
  const entryOf = (name: string, scope?: Scope) =>
    plugins.find((one) => one.name === name && (scope ?? one.scope) === one.scope)
  const all = [
    ...joined(
      listing.routes.flatMap((route) => {
        const at = placeOf(route.record.site, entryOf(route.plugin, route.scope), plugins)
        return waysOfRoute(route).map((one) => ({ ...one, by: route.plugin, at }))
      }),
    ),
    ...plugins.flatMap((entry) =>
      waysOfPlugin(entry).map((one) => ({ ...one, by: entry.name, at: placeOf('', entry, plugins) })),
    ),
    ...listing.fallbacks
      .filter(({ run }) => run !== nothing)
      .map(({ scope, plugin, path }) => ({
        ...unmatched(`${path}/*`, scope, factOf(`plugin ${plugin}: fallback`)),
        by: plugin,
        at: placeOf('', entryOf(plugin, scope), plugins),
      })),
    ...waysOfServer(listing).map((one) => ({ ...one, by: 'application' })),
    ...[...unseen].map(([name, why]) => {
      return { way: `? plugin ${name}`, facts: ['not seen'], by: name, at: placeOf('', entryOf(name), plugins), why }
    }),
  ]
  const byName = new Map<string, WayIn>()
  for (const one of all) byName.set(numbered(one.way, byName), one)
  const key = ({ way }: WayIn) => way.replace(/^(\S+) (.*)$/, '$2 $1')
  return [...byName].map(([way, one]) => ({ ...one, way })).sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

/**
 * Lists a route for every method once, with the conditions for unsafe methods. A method with other conditions has
 * a line of its own.
 */
function joined(ways: readonly (WayIn & { readonly any: string })[]): WayIn[] {
  const textOf = ({ facts }: WayIn) => facts.filter((fact) => !/^csrf\b/.test(fact)).join('; ')
  const first = new Map<string, WayIn>()
  for (const one of ways) {
    const before = first.get(one.any)
    if (one.any !== '' && (before === undefined || before.facts.length < one.facts.length)) first.set(one.any, one)
  }
  const single = new Set(ways.flatMap(({ way, any }) => (any === '' ? way : [])))
  return ways
    .flatMap(({ any, ...one }) => {
      const whole = first.get(any)
      // A route for one method takes precedence.
      return whole === undefined || (textOf(whole) !== textOf(one) && !single.has(one.way)) ? [one] : []
    })
    .concat([...first].map(([way, { facts, by, at }]) => ({ way, facts, by, at })))
}

type Found = Pick<WayIn, 'way' | 'facts'>

function waysOfRoute(route: FullListing['routes'][number]): (Found & { readonly any: string })[] {
  const { record, scope, reachedBy, steps } = route
  const { options, path, method } = record
  const own = [...record.groupMiddlewares.flat(), ...((options.middlewares ?? []) as readonly Middleware[])]
  const { facts, parts } = demandsOf(reaching(scope), { method, path, options })
  const others = steps.filter((step) => step.slot !== 'scope' && step.plugin !== 'application')
  const foreign = others.filter(({ plugin }) => saysNothing(reachedBy.get(plugin)?.definition))
  const all = [
    ...facts,
    ...own.flatMap((one) => factsOf(one, `own ${one.name || 'anonymous'}`)),
    ...foreign.map((step) => factOf(`plugin ${step.plugin}: ${step.name}`)),
    ...optionsOf(options, [...reachedBy.values()]),
  ]
  const methods = options.websocket === undefined ? [method] : isUpgradeAlone(record) ? ['WS'] : [method, 'WS']
  return methods.flatMap((one) =>
    [['', {}] as const, ...Object.entries(parts)].map(([part, conditions]) => {
      const at = part === '' ? path : `${path} ${factOf(part)}`
      const any = record.isAny && one === method ? `ANY ${at}` : ''
      return { way: `${one} ${at}`, any, facts: sorted([...all, ...listed(conditions)]) }
    }),
  )
}

/** The ways in that a plugin declares. */
function waysOfPlugin(entry: PluginEntry): Found[] {
  const { scope, settings, definition } = entry
  const { ways } = definition.access || {}
  return (ways?.(settings as never) ?? []).map(({ method, path, conditions = {}, after = 'all', options }) => {
    const all = reaching(scope)
    const own = all.findIndex((one) => one.entry === entry)
    const before = { all, before: all.slice(0, Math.max(0, own)), none: [] }
    const full = after === 'none' ? path : scope.prefix + path
    const { facts } = demandsOf(before[after], { method, path: full, options })
    return { way: `${method} ${full}`, facts: sorted([...facts, ...listed(conditions)]) }
  })
}

/** What responds below a path where no route matches, without saying anything about itself. */
function unmatched(path: string, scope: Scope, fact: string): Found {
  const { facts } = demandsOf(reaching(scope), { method: 'ANY', path, options: undefined })
  return { way: `ANY ${path}`, facts: sorted([...facts, fact]) }
}

/** Middlewares of the whole server that no one has described, which may respond to any request, and what responds where no route does. */
function waysOfServer({ plugins, notFoundHandler }: FullListing): (Found & { readonly at: string })[] {
  const root = plugins[0]?.scope.lineage[0]
  if (root === undefined) return []
  const placed = root.middlewares.filter(({ entry }) => isUndescribed(entry))
  const facts = sorted(placed.flatMap(({ step, entry }) => factsOf(step.run, nameIn(entry, step.name))))
  const [first] = placed
  return [
    ...(first === undefined ? [] : [{ way: everyRequest, facts, at: placeOf('', first.entry, plugins) }]),
    ...(notFoundHandler === undefined ? [] : [{ ...unmatched('* not found', root, 'own handler'), at: '' }]),
  ]
}

/** The middlewares that run in a scope, the root's first. */
const reaching = (scope: Scope): Placed[] =>
  scope.lineage.flatMap((from) => from.middlewares.filter(({ entry }) => scope.holds(entry, from)))

/** Whether an entry is a middleware of the application, and not a plugin. */
const isBare = (entry: PluginEntry): boolean =>
  ![entry.scope, entry.scope.parent].some((scope) => scope?.plugins.get(entry.name) === entry)

const isUndescribed = (entry: PluginEntry) => isBare(entry) || saysNothing(entry.definition)

/** Whether a plugin does not say what it asks. One that only has its setup run may add guards, too. */
function saysNothing(plugin: PluginEntry['definition'] | undefined): boolean {
  const access = plugin?.access
  return access === undefined || (access !== false && access.routes === true && access.guards === undefined)
}

const nameIn = (entry: PluginEntry, step: string) =>
  isBare(entry) ? `own ${step.replace(/ \(.*/, '')}` : `plugin ${entry.name}: ${step}`

/** What a middleware asks, if it says so; otherwise only that it is there. */
function factsOf(middleware: Middleware, name: string): string[] {
  const policies = guardsOf([middleware]).flatMap(
    ({ policy }) => [policy ?? []].flat() as { scope: string; handler: string }[],
  )
  if (policies.length > 0) return policies.map(({ scope, handler }) => factOf(`policy ${scope}.${handler}`))
  const conditions = conditionsOf(middleware)
  return conditions === undefined ? [factOf(name)] : listed(conditions)
}

/** What the middlewares of the scopes ask. Those of the server that no one has described are a way in of their own. */
function demandsOf(
  placed: readonly Placed[],
  way: Omit<GuardedWay, 'settings'>,
): { readonly facts: string[]; readonly parts: NonNullable<AccessDemands['parts']> } {
  let parts = {}
  const facts = placed.flatMap(({ step, entry }) => {
    if (isUndescribed(entry)) {
      const own = factsOf(step.run, nameIn(entry, step.name))
      return entry.scope.parent === undefined ? own.filter((fact) => fact.startsWith('policy ')) : own
    }
    const { access, name } = entry.definition
    const demands =
      access === false || access === undefined ? undefined : access.guards?.({ ...way, settings: entry.settings })
    parts = { ...parts, ...demands?.parts }
    return demands === undefined ? [] : factsIn(name, demands)
  })
  return { facts, parts }
}

function factsIn(plugin: string, { credential, conditions = {}, limit }: AccessDemands): string[] {
  const facts = [...listed(conditions), ...(limit === undefined ? [] : [factOf(`limit ${limit}`)])]
  if (credential === undefined) return facts
  const { mode, schemes = [], scopes = [] } = credential
  if (mode === false) return [factOf(`${plugin} none`), ...facts]
  return [factOf(`${plugin} ${mode}`, schemes), ...scopes.map((one) => factOf(`scope ${one}`)), ...facts]
}

const listed = (conditions: AccessConditions) =>
  Object.entries(conditions).map(([name, accepts]) => factOf(name, accepts))

/** The options of a route that only plugins of others read: each may decide who comes in. */
function optionsOf(options: RouteOptions, reaching: readonly ListedPlugin[]): string[] {
  const foreign = reaching.filter(({ definition }) => definition.access === undefined)
  const theirs = new Set(foreign.flatMap(({ definition }) => Object.keys(definition.routeOptions ?? {})))
  const described = new Set(
    reaching.flatMap(({ definition }) =>
      definition.access === undefined ? [] : Reflect.ownKeys(definition.routeOptions ?? {}),
    ),
  )
  return Object.entries(options)
    .filter(([name]) => theirs.has(name) || !(name === 'middlewares' || ownOptions.has(name) || described.has(name)))
    .map(([name, value]) => factOf(`option ${name} = ${shown(name, value)}`))
}

/** The value of an option as far as it is plain data, for a file that many people read. */
function shown(name: string, value: unknown): string {
  const { [name]: safe } = redact({ [name]: value }) as Record<string, unknown>
  const visible = (_: string, one: unknown) => (typeof one === 'function' ? 'not visible' : one)
  return JSON.stringify(safe, visible) ?? 'not visible'
}

/** A condition counts once, and each middleware by itself: one of several without a name may be the guard. */
function sorted(facts: readonly string[]): string[] {
  const all = new Map<string, true>()
  for (const fact of facts) all.set(/^(?:own|plugin) /.test(fact) ? numbered(fact, all) : fact, true)
  return [...all.keys()].sort()
}

/** A text that the map does not have yet. */
export function numbered(text: string, taken: ReadonlyMap<string, unknown>): string {
  let one = text
  for (let count = 2; taken.has(one); count++) one = `${text} #${count}`
  return one
}

/** Where something is declared; what a plugin of the framework adds is declared where that plugin is registered. */
export function placeOf(site: unknown, entry: PluginEntry | undefined, plugins: readonly PluginEntry[]): string {
  const text = String(site ?? '')
  if (isAbsolute(text)) return relative(process.cwd(), text)
  if (entry === undefined) return ''
  const owner = plugins.find(({ children }) => children.includes(entry))
  return placeOf(entry.site, owner, plugins)
}
