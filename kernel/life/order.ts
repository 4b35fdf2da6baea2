import type { PluginEntry } from '../plugin/scope.ts'
import { defineError } from '../support/errors.ts'

export const PluginCycleError = defineError(
  'PluginCycleError',
  (path: string) => `plugins depend on each other in a cycle: ${path}. Remove one of these dependencies`,
)

/**
 * Orders the registrations of one list by their dependencies: a plugin that depends on a later one boots after it; all
 * others keep their place.
 */
export function orderByDependencies(entries: readonly PluginEntry[]): PluginEntry[] {
  const named = new Map(entries.map((entry) => [entry.name, entry]))
  const waitsFor = (entry: PluginEntry, done: Set<PluginEntry>) =>
    (entry.definition.dependencies ?? []).find((name) => {
      const needed = named.get(name)
      return needed !== undefined && !done.has(needed)
    })
  const ordered: PluginEntry[] = []
  const done = new Set<PluginEntry>()
  let waiting = [...entries]
  while (waiting.length > 0) {
    const next = waiting.find((entry) => waitsFor(entry, done) === undefined)
    if (next === undefined)
      throw PluginCycleError(describeCycle(waiting[0]!, (entry) => named.get(waitsFor(entry, done)!)!))
    ordered.push(next)
    done.add(next)
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
