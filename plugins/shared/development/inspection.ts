import { parseTarget } from '../../../kernel/http/request/target.ts'
import { defineErrors, type RouteRecord, type Step } from '../../../kernel/index.ts'
import type {
  ExplainedStep,
  Explanation,
  Inspected,
  Inspection,
  ListedPlugin,
  ListedRoute,
  Listing,
  PluginNode,
} from '../../../kernel/inspection.ts'
import { showOptions } from '../../../kernel/plugin/options.ts'
import type { Fallback, PluginEntry, Scope } from '../../../kernel/plugin/scope.ts'
import { nameOf } from '../../../kernel/routing/middleware.ts'
import { handlerOf, printRoutes, printTree } from '../terminal/tree.ts'
import { madeIn } from '../values/memoize.ts'

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** Says, by the settings, what the tree should show that the names of its options do not: what it keeps where. Never a secret. */
    readonly notes?: (settings: never) => readonly string[]
  }
}

const { NotReadyError } = defineErrors({
  NotReadyError: (what: string) => `${what} needs a booted server. Call await server.ready() first`,
})

const plain = ({ slot, name, plugin, scope }: Step): ExplainedStep => ({ slot, name, plugin, scope })

/** The steps of one request, from what the dispatcher would find for it. */
function explain({ routes, finder, root, booted, logger }: Inspected, method: string, path: string): Explanation {
  if (!booted) throw NotReadyError('explain()')
  const target = parseTarget(path)
  if (target === undefined) return { route: undefined, params: {}, steps: root.scope.middlewaresReaching.map(plain) }
  const { target: compiled, params, miss } = finder.find(method.toUpperCase(), target.match, { safeLogger: logger })
  const steps = compiled.steps.map(plain)
  if (miss === undefined) {
    const { plugin, home, terminal } = compiled
    const record = routes.records(logger).find((one) => routes.compiledFrom(one) === compiled)
    const name = record === undefined ? nameOf(terminal, 'handler') : handlerOf(record)
    steps.push({ slot: 'handler', name, plugin, scope: home.name })
    return { route: `${compiled.method} ${compiled.path}`, params: { ...params }, steps }
  }
  for (const { run, path, plugin, scope } of miss.fallbacks) {
    steps.push({ slot: 'fallback', name: nameOf(run, `${path}/*`), plugin, scope: scope.name })
  }
  return { route: undefined, params: {}, steps }
}

/** A listing with the scopes, and with what responds where no route matches. */
export interface FullListing extends Listing {
  readonly routes: readonly (ListedRoute & { readonly scope: Scope })[]
  readonly plugins: readonly PluginEntry[]
  readonly fallbacks: readonly Fallback[]
  readonly notFoundHandler: unknown
}

const listings = new WeakMap<readonly RouteRecord[], Listing>()

/** The listing of one server; once the server is booted, the same object until its routes change. */
function listing({ routes, finder, root, booted, logger }: Inspected): Listing {
  const records = routes.records(booted ? logger : undefined)
  // Before boot, plugins may still be added.
  const known = booted ? listings.get(records) : undefined
  if (known !== undefined) return known
  const reaching = new Map<Scope, ReadonlyMap<string, ListedPlugin>>()
  const reachedBy = (scope: Scope) => madeIn(reaching, scope, pluginsReaching)
  const list: FullListing = {
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
      return { record, plugin: owner?.name ?? 'application', reachedBy: reachedBy(scope), middlewares, steps, scope }
    }),
    plugins: descendants(root),
    fallbacks: finder.fallbacks,
    notFoundHandler: finder.notFoundHandler,
  }
  if (booted) listings.set(records, list)
  return list
}

function pluginsReaching(scope: Scope): ReadonlyMap<string, ListedPlugin> {
  const { lineage } = scope
  const entries = lineage.flatMap((from) => [...from.plugins.values()]).filter((entry) => lineage.includes(entry.scope))
  return new Map(entries.map((entry) => [entry.name, entry]))
}

function descendants(entry: PluginEntry): PluginEntry[] {
  return entry.children.flatMap((child) => [child, ...descendants(child)])
}

/** The tree below an entry as plain data. */
function tree(entry: PluginEntry): PluginNode {
  const { version } = entry.definition
  return {
    name: entry.name,
    ...(version === undefined ? {} : { version }),
    scoped: entry.scoped,
    prefix: entry.scope.prefix,
    options: namesOf(entry.options),
    settings: showOptions(entry.definition.options, entry.options),
    notes: entry.definition.notes?.(entry.settings as never) ?? [],
    ms: { ...entry.times },
    services: [...entry.services],
    middlewares: [...entry.middlewares],
    hooks: [...entry.hooks],
    routes: [...entry.routes],
    children: entry.children.map(tree),
  }
}

function namesOf(options: unknown): string[] {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return []
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}

/** What servers show of themselves. */
export const inspection: Inspection = {
  tree,
  printTree,
  listing,
  printRoutes(server) {
    if (!server.booted) throw NotReadyError('printRoutes()')
    return printRoutes(listing(server).routes)
  },
  explain,
}
