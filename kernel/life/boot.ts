import avvio from 'avvio'
import { Context, type ContextHost } from '../plugin/context.ts'
import { enroll } from '../plugin/enroll.ts'
import type { PluginEntry } from '../plugin/scope.ts'
import { systemClock } from '../support/clock.ts'
import { defineErrors, isReportedTogether } from '../support/errors.ts'
import { nearest } from '../support/nearest.ts'
import { isPromise, within } from '../support/within.ts'

export const { PluginTimeoutError, PluginDependencyMissingError } = defineErrors({
  PluginTimeoutError: (name: string, ms: number) =>
    `the plugin "${name}" did not finish its setup within ${ms} ms. Return when it is done, or raise bootTimeout`,
  PluginDependencyMissingError: (wanted: string, by: string, near: string | undefined, there: string) =>
    `the plugin "${by}" depends on "${wanted}", which is not registered in its scope or an outer one.${
      near === undefined
        ? ` Register it, for example plugins: [${wanted}(), ${by}()].`
        : ` Did you mean "${near}"? Otherwise register "${wanted}".`
    } Registered: ${there}`,
})
const { PluginCycleError, PluginPrefixError, SeveralPluginsError } = defineErrors({
  PluginCycleError: (path: string) =>
    `plugins depend on each other in a cycle: ${path}. Remove one of these dependencies`,
  PluginPrefixError: (name: string, prefix: string, site: string) =>
    `the plugin "${name}" is registered under the prefix ${prefix} (at ${site}), but no route is in it, so what it adds would reach no request. Register it in the plugin that has the routes, or without a prefix`,
  SeveralPluginsError: (all: readonly string[]) =>
    `${all.length} plugins cannot run here:\n${all.map((one) => `- ${one}`).join('\n')}`,
})

/**
 * Boots the tree: runs every `setup` once, depth first, in order of dependencies. The first failure ends the boot, unless it is one of
 * those that are reported together.
 *
 * avvio only decides the order: it is created without a server instance and not started by itself, so that
 * none of its methods (`use`, `after`, a `then`) are visible outside. Ready hooks and closing are implemented here, because
 * avvio loses errors in ready hooks and never settles if a hook hangs while closing.
 */
export function bootTree(root: PluginEntry, host: ContextHost): Promise<void> {
  return new Promise((resolve, reject) => {
    const boot = avvio(null, { autostart: false, timeout: 0 })
    const failures: Error[] = []
    // One that cannot run in this environment does not end the boot yet: the others are also tried.
    const failed = (error: Error) => {
      if (isReportedTogether(error.cause)) failures.push(error)
      // After a first failure, any other may be a consequence, and is left out.
      else if (failures.length === 0) throw error
      return false
    }
    const load = (entries: readonly PluginEntry[]) => {
      for (const entry of orderByDependencies(entries)) {
        let companions: readonly PluginEntry[] = []
        if (entry.definition.dependencies !== undefined) {
          boot.use(async () => {
            companions = enrollCompanions(entry, host)
            load(companions)
          })
        }
        boot.use(async () => {
          const isUp = await setUp(entry, host).then(() => true, failed)
          if (isUp) load(entry.children.slice(companions.length))
        })
      }
    }
    load(root.children)
    // Three parameters: with fewer, avvio keeps the error to itself.
    boot.ready((error: unknown, _context: unknown, done: Function) => {
      done()
      const several = SeveralPluginsError(failures.map(({ message }) => message))
      const together = failures.length > 1 ? Object.assign(several, { errors: failures }) : failures[0]
      const failure = error ?? together ?? emptyPrefix(root)
      if (failure) reject(failure)
      else resolve()
    })
  })
}

/** A limit under `/api` limits what is registered in it, not the application's routes under that path: an empty one guards nothing. */
function emptyPrefix(owner: PluginEntry): Error | undefined {
  for (const entry of owner.children) {
    const { name, site, scope, scoped } = entry
    if (scoped && scope.prefix !== scope.parent?.prefix && !hasRoutes(entry))
      return PluginPrefixError(name, scope.prefix, String(site))
    const below = emptyPrefix(entry)
    if (below !== undefined) return below
  }
  return undefined
}

const hasRoutes = ({ routes, children }: PluginEntry): boolean => routes.length > 0 || children.some(hasRoutes)

async function setUp(entry: PluginEntry, host: ContextHost): Promise<void> {
  checkDependencies(entry, host.server.settings.catalog.names)
  own(entry, host)
  const { setup } = entry.definition
  if (setup === undefined) return
  const { bootTimeout } = host.server.settings
  const start = performance.now()
  try {
    const result = entry.trace('setup', () =>
      setup.call(entry.definition, new Context(host, entry), entry.settings as never, entry.provided),
    )
    if (isPromise(result)) {
      const late = () => {
        throw PluginTimeoutError(entry.name, bootTimeout)
      }
      await within(result, bootTimeout, late, systemClock)
    }
  } catch (error) {
    throw (error as { code?: unknown })?.code === PluginTimeoutError.code ? error : entry.failure('setup', error)
  } finally {
    entry.times.boot = performance.now() - start
  }
}

/** Makes closing end the services of a plugin: before the hooks of its `setup` in the list, which runs in reverse. */
function own(entry: PluginEntry, { owned, lifeCycle: { onClose } }: ContextHost): void {
  if (owned.has(entry)) return
  const { definition, provided } = entry
  // A service that several plugins provide is ended once, by the first of them.
  const own = [...new Set(Object.values(provided))].filter((one) => !owned.has(one))
  for (const one of [entry, ...own]) owned.add(one)
  if (definition.close !== undefined) onClose.push({ run: () => definition.close!(provided), entry })
  // Not by reading it: a client made of a Proxy has a method for every name.
  else
    for (const one of own)
      if (Object(one) === one && Symbol.asyncDispose in one)
        onClose.push({ run: () => one[Symbol.asyncDispose](), entry })
}

/** Does the same for all plugins below one, also for those that a failed boot has not reached. */
export function ownAll({ children }: PluginEntry, host: ContextHost): void {
  for (const entry of children) {
    own(entry, host)
    ownAll(entry, host)
  }
}

/**
 * Registers a plugin's missing dependencies where the server can supply them. It does so when it is the plugin's
 * turn, so that everything registered earlier comes first.
 */
function enrollCompanions(entry: PluginEntry, host: ContextHost): readonly PluginEntry[] {
  for (const name of entry.definition.dependencies ?? []) {
    if (entry.scope.findPlugin(name) !== undefined) continue
    const companion = host.server.settings.catalog.companion(name)
    if (companion !== undefined) enroll(entry, companion)
  }
  return [...entry.children]
}

/** Checked when it is the plugin's turn, since an earlier sibling may have registered what it needs. */
/**
 * Orders the registrations of one list by their dependencies: a plugin that depends on a later one boots after it; all
 * others keep their place.
 */
function orderByDependencies(entries: readonly PluginEntry[]): PluginEntry[] {
  const named = new Map(entries.map((entry) => [entry.name, entry]))
  const ordered: PluginEntry[] = []
  let waiting = [...entries]
  const waitsFor = ({ definition: { dependencies = [] } }: PluginEntry) =>
    dependencies.map((name) => named.get(name)).find((needed) => needed !== undefined && waiting.includes(needed))
  while (waiting.length > 0) {
    const next = waiting.find((entry) => waitsFor(entry) === undefined)
    if (next === undefined) throw PluginCycleError(describeCycle(waiting[0]!, (entry) => waitsFor(entry)!))
    ordered.push(next)
    waiting = waiting.filter((entry) => entry !== next)
  }
  return ordered
}

function describeCycle(start: PluginEntry, needed: (entry: PluginEntry) => PluginEntry): string {
  const path: PluginEntry[] = []
  let entry = start
  while (!path.includes(entry)) {
    path.push(entry)
    entry = needed(entry)
  }
  return [...path.slice(path.indexOf(entry)), entry].map((one) => one.name).join(' → ')
}

function checkDependencies(entry: PluginEntry, known: readonly string[]): void {
  const from = entry.scoped ? entry.scope.parent! : entry.scope
  for (const name of entry.definition.dependencies ?? []) {
    if (entry.scope.findPlugin(name) !== undefined) continue
    const visible = from.lineage.flatMap((one) => [...one.plugins.keys()])
    const there = visible.filter((one) => one !== entry.name)
    // A plugin of the catalog that no one has registered may be meant as well.
    const near = known.includes(name) ? undefined : nearest(name, [...there, ...known])
    throw PluginDependencyMissingError(name, entry.name, near, there.join(', ') || 'nothing')
  }
}
