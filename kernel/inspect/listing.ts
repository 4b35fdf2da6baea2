import type { CompiledRoutes } from '../pipeline/compiled-route.ts'
import type { PluginDefinition } from '../plugin/define.ts'
import type { PluginEntry, Scope } from '../plugin/scope.ts'
import type { ServiceStore } from '../plugin/services.ts'
import type { RouteRecord } from '../routing/collection.ts'
import type { Middleware } from '../routing/middleware.ts'
import type { Step } from '../routing/route.ts'
import type { Logger } from '../support/logger.ts'

/** A registered plugin. */
export interface ListedPlugin {
  /** The definition that `definePlugin` was called with. */
  readonly definition: PluginDefinition<never, object>
  /** The options that it was registered with. */
  readonly options: unknown
  /** The options as the plugin's reader returned them, with defaults. */
  readonly settings: unknown
  /** The scope that the plugin runs in; `services` are the services that it sees. */
  readonly scope: { readonly services: ServiceStore }
}

/** A route as it was registered. */
export interface ListedRoute {
  /** The route with its options and its handler. */
  readonly record: RouteRecord
  /** The plugin that registered it; `application` for the application itself. */
  readonly plugin: string
  /** The plugins whose middlewares and hooks reach it, by name. */
  readonly reachedBy: ReadonlyMap<string, ListedPlugin>
  /** The middlewares that run for it, in order: those of the server, its plugins and its groups, then its own. */
  readonly middlewares: readonly Middleware[]
  /** The compiled chain before the handler; empty before boot. */
  readonly steps: readonly Step[]
}

/** What is registered on a server. */
export interface Listing {
  /** The server's own routes, then those of the mounted collection, each in order of registration. */
  readonly routes: readonly ListedRoute[]
  /** Every plugin of the tree, depth first. */
  readonly plugins: readonly ListedPlugin[]
}

const listings = new WeakMap<readonly RouteRecord[], Listing>()

/** The listing of one server; once the server is booted, the same object until its routes change. */
export function listingOf(routes: CompiledRoutes, root: PluginEntry, booted: boolean, logger: Logger): Listing {
  const records = routes.records(booted ? logger : undefined)
  // Before boot, plugins may still be added.
  const known = booted ? listings.get(records) : undefined
  if (known !== undefined) return known
  const reaching = new Map<Scope, ReadonlyMap<string, ListedPlugin>>()
  const reachedBy = (scope: Scope) => {
    const there = reaching.get(scope) ?? pluginsReaching(scope)
    reaching.set(scope, there)
    return there
  }
  const listing: Listing = {
    routes: records.map((record) => {
      const owner = routes.ownerOf(record)
      const scope = owner?.scope ?? root.scope
      // Before boot, options have not been checked.
      const own = [record.options.middlewares ?? []].flat()
      const middlewares = [
        ...scope.middlewaresReaching.map(({ run }) => run),
        ...record.groupMiddlewares.flat(),
        ...own,
      ]
      const { steps = [] } = routes.compiledFrom(record) ?? {}
      return { record, plugin: owner?.name ?? 'application', reachedBy: reachedBy(scope), middlewares, steps }
    }),
    plugins: descendants(root),
  }
  if (booted) listings.set(records, listing)
  return listing
}

function pluginsReaching(scope: Scope): ReadonlyMap<string, ListedPlugin> {
  const { lineage } = scope
  const entries = lineage.flatMap((from) => [...from.plugins.values()]).filter((entry) => lineage.includes(entry.scope))
  return new Map(entries.map((entry) => [entry.name, entry]))
}

function descendants(entry: PluginEntry): PluginEntry[] {
  return entry.children.flatMap((child) => [child, ...descendants(child)])
}
