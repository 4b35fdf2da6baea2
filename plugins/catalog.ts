import type { AbsentPlugin, PluginFactory, Registration } from '../kernel/index.ts'
import { asyncapi } from './asyncapi/plugin.ts'
import { cache } from './cache/index.ts'
import { channels } from './channels/index.ts'
import { compression } from './compression/index.ts'
import { controllers } from './controllers/index.ts'
import { cookie } from './cookie/index.ts'
import { cors } from './cors/index.ts'
import { cron } from './cron/index.ts'
import { env } from './env/index.ts'
import { graphql } from './graphql/index.ts'
import { health } from './health/index.ts'
import { helmet } from './helmet/index.ts'
import { inspector } from './inspector/index.ts'
import { json } from './json/index.ts'
import { log } from './log/index.ts'
import { mailer } from './mailer/index.ts'
import { methodOverride } from './methodOverride/index.ts'
import { metrics } from './metrics/index.ts'
import { mqtt } from './mqtt/index.ts'
import { openapi } from './openapi/plugin.ts'
import { overload } from './overload/index.ts'
import { policy } from './policy/index.ts'
import { queues } from './queues/index.ts'
import { rateLimit } from './rateLimit/index.ts'
import { requestContext } from './requestContext/index.ts'
import { responses } from './responses/index.ts'
import { session } from './session/index.ts'
import { static as staticFiles } from './static/index.ts'
import { storage } from './storage/index.ts'
import { telemetry } from './telemetry/index.ts'
import { timeout } from './timeout/index.ts'
import { trustProxy } from './trustProxy/index.ts'
import { upload } from './upload/index.ts'
import { urlencoded } from './urlencoded/index.ts'
import { validation } from './validation/index.ts'
import { websocket } from './websocket/index.ts'

/**
 * Every first-party plugin by its key in the object form, in the order in which that form registers them: first the plugins that can
 * refuse to start, then those that must see everything, those that add to every response, and those that read bodies. They close in
 * reverse order: a plugin that the last jobs and requests use comes before the plugins that run them.
 */
export const catalog = {
  env,
  trustProxy,
  methodOverride,
  // Before the log, to whose lines it adds fields, and before everything that it traces.
  telemetry,
  log,
  // After the log, whose lines it records, and before any plugin that could block its page.
  inspector,
  requestContext,
  helmet,
  health,
  metrics,
  cors,
  // After the plugins that identify the request in the log and let pages of other origins read the response, before anything expensive.
  overload,
  timeout,
  rateLimit,
  cookie,
  session,
  storage,
  mailer,
  json,
  urlencoded,
  upload,
  // Before the cache, which would respond to an upgrade with a page.
  websocket,
  channels,
  cache,
  static: staticFiles,
  compression,
  openapi,
  asyncapi,
  graphql,
  cron,
  queues,
  mqtt,
} as const

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

/** Returns how serious it is that the plugin which reads a route option is in the catalog, but not registered. */
export function absentPlugin(option: string, turnedOff: ReadonlySet<string>): AbsentPlugin | undefined {
  const keys = Object.keys(catalog) as CatalogKey[]
  const optionsOf = (key: CatalogKey): { readonly [name: string]: unknown } => factoryOf(key).plugin.routeOptions ?? {}
  const plugin = keys.find((key) => Object.hasOwn(optionsOf(key), option))
  if (plugin === undefined) return undefined
  if (documenting.includes(plugin)) return { plugin, absence: 'meant', reader: optionsOf(plugin)[option] }
  if (turnedOff.has(plugin)) return { plugin, absence: 'meant' }
  return { plugin, absence: dispensable.includes(plugin) ? 'warning' : 'error' }
}

/** Plugins that are registered automatically if another plugin depends on them and they are not registered. */
const companions: readonly string[] = ['cookie'] satisfies CatalogKey[]

export function companionOf(name: string): Registration | undefined {
  return companions.includes(name) ? factoryOf(name as CatalogKey)() : undefined
}
