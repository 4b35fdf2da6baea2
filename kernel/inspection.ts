import type { CompiledRoutes } from './pipeline/compiled-route.ts'
import type { RouteFinder } from './pipeline/find-route.ts'
import type { PluginDefinition } from './plugin/define.ts'
import type { HookName } from './plugin/hooks.ts'
import type { PluginEntry, PluginTimes } from './plugin/scope.ts'
import type { ServiceStore } from './plugin/services.ts'
import type { RouteRecord } from './routing/collection.ts'
import type { Middleware } from './routing/middleware.ts'
import type { Step } from './routing/route.ts'
import type { Logger } from './support/logger.ts'

/** How one request would be answered. */
export interface Explanation {
  /** The route's method and path as registered; `undefined` when the response would be 404 or 405. */
  readonly route: string | undefined
  /** The decoded parameters of the path, as the handler receives them. */
  readonly params: Readonly<Record<string, string>>
  /** The steps that run, in order; where no route matches, the middlewares and then the fallbacks that may answer. */
  readonly steps: readonly ExplainedStep[]
}

/** One step, with the plugin that added it. */
export interface ExplainedStep extends Pick<Step, 'name' | 'plugin' | 'scope'> {
  /** The slot of the step; `handler` for the last one, `fallback` for one that answers where no route does. */
  readonly slot: Step['slot'] | 'fallback'
}

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

/** A snapshot of one plugin in the tree. */
export interface PluginNode {
  /** The name of the plugin; `root` for the server itself. */
  readonly name: string
  /** The version of the plugin, if its definition has one. */
  readonly version?: string
  /** Whether it has a scope of its own, so that what it adds does not reach its siblings. */
  readonly scoped: boolean
  /** The path prefix of its routes, `''` for none. */
  readonly prefix: string
  /** Names of the options that it was registered with. */
  readonly options: readonly string[]
  /** The value of each option, with defaults; for secrets, functions and objects only whether they are set. */
  readonly settings: unknown
  /** What the plugin says of itself, such as which table its outbox is. */
  readonly notes: readonly string[]
  /** Milliseconds spent in `setup`, ready hooks, drain hooks and close hooks. */
  readonly ms: Readonly<PluginTimes>
  /** The names of the services that it provides. */
  readonly services: readonly string[]
  /** The names of the middlewares that it adds, in order. */
  readonly middlewares: readonly string[]
  /** The hooks that it adds, in order; a name that appears twice was added twice. */
  readonly hooks: readonly HookName[]
  /** The routes that it registers, as `GET /users/:id`. */
  readonly routes: readonly string[]
  /** The plugins that were registered within it, in order. */
  readonly children: readonly PluginNode[]
}

/** The parts of a server that can be looked at. */
export interface Inspected {
  readonly routes: CompiledRoutes
  readonly finder: RouteFinder
  readonly root: PluginEntry
  readonly booted: boolean
  readonly logger: Logger
}

/** Shows what is registered, for tools. The kernel receives it. */
export interface Inspection {
  tree(root: PluginEntry): PluginNode
  printTree(tree: PluginNode): string
  /** Before boot, without the routes that plugins register in their `setup`. */
  listing(server: Inspected): Listing
  /** Throws before boot, as `explain` does. */
  printRoutes(server: Inspected): string
  explain(server: Inspected, method: string, path: string): Explanation
}
