import type { HostServer } from '../http/request/request.ts'
import { type Middleware, nameOf } from '../routing/middleware.ts'
import { joinPaths } from '../routing/pattern.ts'
import { CallSite } from '../support/call-site.ts'
import { isFrameworkError } from '../support/errors.ts'
import { OptionPlace } from '../support/options.ts'
import { isPromise } from '../support/within.ts'
import { checkMembers, isPluginFactory, isRegistration, type Registration } from './define.ts'
import { readOption } from './options.ts'
import { DuplicatePluginError, describe, type EnrollOptions, NotAPluginError, PluginEntry, Scope } from './scope.ts'

/**
 * The one place where a plugin enters the tree and where child scopes are created: from the `plugins` option, `use`,
 * `register` and nested registrations alike. Its options are read and `provide` runs here, so its services exist immediately; when
 * either fails, nothing of the plugin remains.
 */
export function enroll(owner: PluginEntry, given: unknown, options: EnrollOptions = {}): PluginEntry {
  return prepare(owner, given, options)()
}

/** Reads the options of a plugin; the result adds it to the tree. Until then, nothing of it exists. */
export function prepare(owner: PluginEntry, given: unknown, options: EnrollOptions): () => PluginEntry {
  const uncalled = isPluginFactory(given)
  const registration: unknown = uncalled ? given() : given
  if (typeof registration === 'function') return () => enrollMiddleware(owner, registration as Middleware)
  if (!isRegistration(registration)) throw NotAPluginError(describe(given))
  const { site, mountPath = options.prefix ?? '' } = registration as Registration
  const parent = owner.scope
  const { substitutes } = (parent.server as HostServer).settings
  const definition = substitutes.definitionOf(registration.plugin)
  const prefix = joinPaths(mountPath, definition.prefix ?? '')
  checkMembers(definition)
  const settings = substitutes.settingsOf(definition, settingsOf(registration, parent, options.path, uncalled))
  return () => {
    const first = parent.plugins.get(definition.name)
    if (first !== undefined) throw DuplicatePluginError(definition.name, String(first.site), String(site))
    const isScoped = definition.scoped === true || prefix !== ''
    const scope = isScoped ? new Scope(definition.name, parent.server, prefix, parent) : parent
    const entry = new PluginEntry(definition, scope, { options: registration.options, settings, site, uncalled })
    entry.provided = definition.provide === undefined ? {} : servicesOf(entry, definition.provide)
    entry.scope.services.provide(entry.provided, entry.name)
    entry.services.push(...Object.keys(entry.provided))
    parent.plugins.set(entry.name, entry)
    owner.children.push(entry)
    return entry
  }
}

function enrollMiddleware(owner: PluginEntry, middleware: Middleware, site = new CallSite()): PluginEntry {
  const name = nameOf(middleware, 'anonymous', site)
  const entry = new PluginEntry({ name, setup: (ctx) => ctx.use(middleware) }, owner.scope, { site })
  owner.children.push(entry)
  return entry
}

/** Reads the options; every wrong one is reported, with the place where it was written. */
function settingsOf(
  { plugin, options, site }: Registration,
  owner: Scope,
  path: string | undefined,
  uncalled: boolean,
): unknown {
  if (plugin.options === undefined) return options
  const place = new OptionPlace(path ?? plugin.name)
  let settings: unknown
  try {
    settings = readOption(plugin.options, options, place)
  } catch (error) {
    if (isFrameworkError(error)) throw error
    throw new PluginEntry(plugin, owner, { uncalled }).failure('options', error)
  }
  // Reading the place from a stack takes longer than reading the options.
  if (place.isFine) return settings
  const written = path === undefined ? `. The plugin "${plugin.name}" is registered at ${site}` : ''
  return place.settle(uncalled ? `. Its factory was passed without being called: write ${plugin.name}({ … })` : written)
}

function servicesOf(entry: PluginEntry, provide: (settings: never) => object): object {
  let provided: unknown
  try {
    provided = entry.trace('provide', () => provide.call(entry.definition, entry.settings as never))
  } catch (error) {
    throw entry.failure('provide', error)
  }
  if (isPromise(provided)) {
    // Its failure would otherwise end the process as an unhandled rejection.
    provided.then(undefined, () => {})
    throw entry.failure('provide', new Error('it is async; create the objects there and connect in setup'))
  }
  if (provided === undefined) return {}
  if (typeof provided !== 'object' || provided === null || Array.isArray(provided)) {
    throw entry.failure('provide', new Error('it does not return an object of services: { name: service }'))
  }
  return provided
}
