import type { AbsentPlugin, PluginFactory } from '../kernel/index.ts'
import type { PluginCatalog } from '../kernel/options.ts'
import { controllers } from './controllers/index.ts'
import * as plugins from './index.ts'
import { policy } from './policy/index.ts'
import { responses } from './responses/index.ts'
import { validation } from './validation/index.ts'

/**
 * Every first-party plugin by its key in the object form, in the order in which that form registers them: first the plugins that can
 * refuse to start, then those that must see everything, those that add to every response, and those that read bodies. They close in
 * reverse order: a plugin that the last jobs and requests use comes before the plugins that run them.
 */
export const catalog = {
  env: plugins.env,
  trustProxy: plugins.trustProxy,
  methodOverride: plugins.methodOverride,
  // Before the log, to whose lines it adds fields, and before everything that it traces.
  telemetry: plugins.telemetry,
  log: plugins.log,
  // After the log, whose lines it records, and before any plugin that could block its page.
  inspector: plugins.inspector,
  requestContext: plugins.requestContext,
  helmet: plugins.helmet,
  health: plugins.health,
  metrics: plugins.metrics,
  cors: plugins.cors,
  // After the plugins that identify the request in the log and let pages of other origins read the response, before anything expensive.
  overload: plugins.overload,
  timeout: plugins.timeout,
  rateLimit: plugins.rateLimit,
  // Before sessions are loaded.
  csrf: plugins.csrf,
  cookie: plugins.cookie,
  session: plugins.session,
  // After the rate limit: guesses are counted before they are checked.
  auth: plugins.auth,
  // After all that can say who calls, and before all whose names it separates.
  tenant: plugins.tenant,
  locks: plugins.locks,
  storage: plugins.storage,
  mailer: plugins.mailer,
  json: plugins.json,
  urlencoded: plugins.urlencoded,
  upload: plugins.upload,
  // Before the cache, which would respond to an upgrade with a page.
  websocket: plugins.websocket,
  channels: plugins.channels,
  cache: plugins.cache,
  // After the cache, whose entries then have been committed, and closed after all that uses it.
  database: plugins.database,
  // After the database, whose transactions keep the responses, and before compression, so that they are kept as they are.
  idempotency: plugins.idempotency,
  webhooks: plugins.webhooks,
  static: plugins.static,
  compression: plugins.compression,
  openapi: plugins.openapi,
  asyncapi: plugins.asyncapi,
  graphql: plugins.graphql,
  cron: plugins.cron,
  queues: plugins.queues,
  mqtt: plugins.mqtt,
} as const satisfies typeof plugins

export type Catalog = typeof catalog
export type CatalogKey = keyof Catalog

/** Plugins that every server has, before all others: the route options of the framework itself need them. */
export const core = [validation, policy, responses, controllers] as const

/** Plugins that are on unless they are turned off. */
export const onByDefault: readonly CatalogKey[] = ['json']

/** Returns a factory of the catalog, whatever the type of its options. */
export function factoryOf(key: CatalogKey): PluginFactory<unknown, object> {
  return catalog[key] as PluginFactory<unknown, object>
}

/** Plugins whose route options promise nothing to clients: without them, a response is only slower, larger, or not logged. */
const dispensable: readonly CatalogKey[] = ['cache', 'compression', 'log']

/** Plugins whose route options describe the route. A mistake in them matters even without the plugin: they may contain a guard. */
const documenting: readonly CatalogKey[] = ['openapi']

/** Plugins that a route with their option needs, also where they were turned off: the option decides who may enter, or lets clients send calls again. */
const needed: readonly CatalogKey[] = ['auth', 'tenant', 'webhooks', 'idempotency']

/** Returns how serious it is that the plugin which reads a route option is in the catalog, but not registered. */
function absentPlugin(option: string, turnedOff: ReadonlySet<string>): AbsentPlugin | undefined {
  const keys = Object.keys(catalog) as CatalogKey[]
  const optionsOf = (key: CatalogKey): { readonly [name: string]: unknown } => factoryOf(key).plugin.routeOptions ?? {}
  const plugin = keys.find((key) => Object.hasOwn(optionsOf(key), option))
  if (plugin === undefined) return undefined
  if (documenting.includes(plugin)) return { plugin, absence: 'meant', reader: optionsOf(plugin)[option] }
  if (needed.includes(plugin)) return { plugin, absence: 'needed' }
  if (turnedOff.has(plugin)) return { plugin, absence: 'meant' }
  return { plugin, absence: dispensable.includes(plugin) ? 'warning' : 'error' }
}

/** Plugins that are registered automatically if another plugin depends on them and they are not registered. */
const companions: readonly string[] = ['cookie'] satisfies CatalogKey[]

/** What the kernel asks about plugins that are not registered, with those that were turned off. */
export const catalogWithout = (turnedOff: ReadonlySet<string>): PluginCatalog => ({
  names: Object.keys(catalog),
  companion: (name) => (companions.includes(name) ? factoryOf(name as CatalogKey)() : undefined),
  absent: (option) => absentPlugin(option, turnedOff),
})
