import type { AbsentPlugin, PluginFactory } from '../kernel/index.ts'
import type { PluginCatalog } from '../kernel/options.ts'
import { controllers } from './controllers/index.ts'
import * as plugins from './index.ts'
import { members } from './members.ts'
import { policy } from './policy/index.ts'
import { responses } from './responses/index.ts'
import { validation } from './validation/index.ts'

/**
 * The keys of the object form, in the order in which that form registers the plugins: first those that can refuse to start, then those that must
 * see everything, those that add to every response, and those that read bodies. They close in reverse order: a plugin that the last jobs and
 * requests use comes before the plugins that run them.
 */
export const catalogKeys = [
  'env',
  'trustProxy',
  'methodOverride',
  // Before the log, to whose lines it adds fields, and before everything that it traces.
  'telemetry',
  'log',
  // After the log, whose lines it records, and before any plugin that could block its page.
  'inspector',
  'requestContext',
  'helmet',
  'health',
  'metrics',
  'cors',
  // After the plugins that identify the request in the log and let pages of other origins read the response, before anything expensive.
  'overload',
  'timeout',
  'rateLimit',
  // Before sessions are loaded.
  'csrf',
  'cookie',
  'session',
  // After the rate limit: guesses are counted before they are checked.
  'auth',
  // After all that can say who calls, and before all whose names it separates.
  'tenant',
  'locks',
  'storage',
  'mailer',
  'json',
  'urlencoded',
  'upload',
  // Before the cache, which would respond to an upgrade with a page.
  'websocket',
  'channels',
  'cache',
  // After the cache, whose entries then have been committed, and closed after all that uses it.
  'database',
  // After the database, whose transactions keep the responses, and before compression, so that they are kept as they are.
  'idempotency',
  'webhooks',
  'static',
  'compression',
  'openapi',
  'asyncapi',
  'graphql',
  'cron',
  'queues',
  'mqtt',
] as const satisfies readonly CatalogKey[]

export type Catalog = typeof plugins
export type CatalogKey = keyof Catalog

export const isCatalogKey = (key: string): key is CatalogKey => (catalogKeys as readonly string[]).includes(key)

/** Plugins that every server has, before all others: the route options of the framework itself need them. */
export const core = [validation, policy, responses, controllers] as const

/** Plugins that are on unless they are turned off. */
export const onByDefault: readonly CatalogKey[] = ['json']

/** Returns a factory, whatever the type of its options. In the built package, this loads most plugins. */
export const factoryOf = (key: CatalogKey) =>
  (plugins as Record<CatalogKey, unknown>)[key] as PluginFactory<unknown, object>

/** Plugins whose route options promise nothing to clients: without them, a response is only slower, larger, or not logged. */
const dispensable: readonly CatalogKey[] = ['cache', 'compression', 'log']

/** Plugins that a route with their option needs, also where they were turned off: the option decides who may enter, or lets clients send calls again. */
const needed: readonly CatalogKey[] = ['auth', 'tenant', 'webhooks', 'idempotency']

/** Returns how serious it is that the plugin which reads a route option is in the catalog, but not registered. */
function absentPlugin(option: string, turnedOff: ReadonlySet<string>): AbsentPlugin | undefined {
  const plugin = new Map<string, string>(Object.entries(members.route)).get(option) ?? option
  if (!isCatalogKey(plugin)) return undefined
  const readers: { readonly [name: string]: unknown } = factoryOf(plugin).plugin.routeOptions ?? {}
  if (!Object.hasOwn(readers, option)) return undefined
  // Its option describes the route. A mistake in it matters even without the plugin: it may contain a guard.
  if (plugin === 'openapi') return { plugin, absence: 'meant', reader: readers[option] }
  if (needed.includes(plugin)) return { plugin, absence: 'needed' }
  if (turnedOff.has(plugin)) return { plugin, absence: 'meant' }
  return { plugin, absence: dispensable.includes(plugin) ? 'warning' : 'error' }
}

/** Plugins whose work programs also do without registering them: a mailer, a disk, a queue in memory. */
export const worksAlone: readonly CatalogKey[] = ['cache', 'cron', 'mailer', 'mqtt', 'queues', 'storage']

/** What the kernel asks about plugins that are not registered, with those that were turned off. */
export const catalogWithout = (turnedOff: ReadonlySet<string>): PluginCatalog => ({
  names: catalogKeys,
  companion: (name) => (name === 'cookie' ? factoryOf(name)() : undefined),
  absent: (option) => absentPlugin(option, turnedOff),
})
