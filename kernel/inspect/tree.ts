import type { HookName } from '../plugin/hooks.ts'
import { showOptions } from '../plugin/options.ts'
import type { PluginEntry, PluginTimes } from '../plugin/scope.ts'

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

/** The tree below an entry as plain data. */
export function snapshot(entry: PluginEntry): PluginNode {
  const { version } = entry.definition
  return {
    name: entry.name,
    ...(version === undefined ? {} : { version }),
    scoped: entry.scoped,
    prefix: entry.scope.prefix,
    options: namesOf(entry.options),
    settings: showOptions(entry.definition.options, entry.options),
    ms: { ...entry.times },
    services: [...entry.services],
    middlewares: [...entry.middlewares],
    hooks: [...entry.hooks],
    routes: [...entry.routes],
    children: entry.children.map(snapshot),
  }
}

function namesOf(options: unknown): string[] {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return []
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}
