import type { PluginFactory } from '../kernel/index.ts'
import { cors } from './cors/index.ts'
import { health } from './health/index.ts'
import { json } from './json/index.ts'
import { log } from './log/index.ts'
import { policy } from './policy/index.ts'
import { responses } from './responses/index.ts'
import { urlencoded } from './urlencoded/index.ts'
import { validation } from './validation/index.ts'

/**
 * Every first-party plugin by its key in the object form, in the order in which the object form registers them: first
 * who must see everything, then who adds to every answer, then who reads bodies.
 */
export const catalog = {
  log,
  health,
  cors,
  json,
  urlencoded,
} as const

export type Catalog = typeof catalog
export type CatalogKey = keyof Catalog

/** Plugins of every server, in front of all others: what the route options of the framework itself need. */
export const core = [validation, policy, responses] as const

/** Plugins that are on unless they are turned off. */
export const onByDefault: readonly CatalogKey[] = ['json']

/** A factory of the catalog, whatever its options. */
export function factoryOf(key: CatalogKey): PluginFactory<unknown, object> {
  return catalog[key] as PluginFactory<unknown, object>
}
