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
 * Every first-party plugin by its key in the object form, in the order in which the object form registers them: first
 * what can refuse to start, then who must see everything, then who adds to every answer, then who reads bodies. They close
 * the other way round: what the last jobs and requests use stands before who runs them.
 */
export const catalog = {
  env,
  trustProxy,
  methodOverride,
  // Before the log, whose lines it gives fields, and everything whose work it follows.
  telemetry,
  log,
  // After the log, whose lines it notes, and before all that could keep someone off its page.
  inspector,
  requestContext,
  helmet,
  health,
  metrics,
  cors,
  // After what names the request in the log and lets a page of another origin read the answer, before everything that costs.
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
  // Before the cache, which would answer an upgrade with a page.
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

/** Plugins of every server, in front of all others: what the route options of the framework itself need. */
export const core = [validation, policy, responses, controllers] as const

/** Plugins that are on unless they are turned off. */
export const onByDefault: readonly CatalogKey[] = ['json']

/** A factory of the catalog, whatever its options. */
export function factoryOf(key: CatalogKey): PluginFactory<unknown, object> {
  return catalog[key] as PluginFactory<unknown, object>
}

/** Plugins whose route options promise nothing to who calls: without them an answer is slower, larger, or not logged. */
const dispensable: readonly CatalogKey[] = ['cache', 'compression', 'log']

/** Plugins whose route options are words about the route. What is wrong with them is wrong without the plugin, too: a guard that stands in them. */
const documenting: readonly CatalogKey[] = ['openapi']

/** What it means for an option of routes that its plugin of the catalog is not there. */
export function absentPlugin(option: string, turnedOff: ReadonlySet<string>): AbsentPlugin | undefined {
  const keys = Object.keys(catalog) as CatalogKey[]
  const optionsOf = (key: CatalogKey): { readonly [name: string]: unknown } => factoryOf(key).plugin.routeOptions ?? {}
  const plugin = keys.find((key) => Object.hasOwn(optionsOf(key), option))
  if (plugin === undefined) return undefined
  if (documenting.includes(plugin)) return { plugin, absence: 'meant', reader: optionsOf(plugin)[option] }
  if (turnedOff.has(plugin)) return { plugin, absence: 'meant' }
  return { plugin, absence: dispensable.includes(plugin) ? 'warning' : 'error' }
}

/** Plugins that are registered by themselves where another depends on them and no one has registered them. */
const companions: readonly string[] = ['cookie'] satisfies CatalogKey[]

export function companionOf(name: string): Registration | undefined {
  return companions.includes(name) ? factoryOf(name as CatalogKey)() : undefined
}
