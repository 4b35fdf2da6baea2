import { defineError, type Listing, OptionPlace } from '../../kernel/index.ts'
import { type Check, type CheckedServices, checks as checksOf } from './options.ts'

export const HealthChecksError = defineError('HealthChecksError', (why: string) => why)

interface Found {
  readonly plugin: Listing['plugins'][number]
  readonly check: Check
}

/**
 * Returns the checks of plugins, by name, each with the services of its own plugin; without checks whose name is in `own`.
 *
 * @throws HealthChecksError for an invalid check, and when two plugins have checks of the same name.
 */
export function gatherChecks({ plugins }: Listing, own: readonly string[]): Record<string, () => unknown> {
  const found = new Map<string, Found[]>()
  for (const plugin of plugins) {
    for (const [name, check] of Object.entries(checksIn(plugin))) {
      const before = found.get(name) ?? []
      if (own.includes(name)) continue
      const other = before.find((one) => one.plugin.definition !== plugin.definition)
      if (other !== undefined) throw clash(name, other.plugin.definition.name, plugin.definition.name)
      found.set(name, [...before, { plugin, check }])
    }
  }
  return Object.fromEntries([...found].map(([name, all]) => [name, together(all)]))
}

function checksIn({ definition }: Found['plugin']): Readonly<Record<string, Check>> {
  if (definition.health === undefined) return {}
  const place = new OptionPlace('health')
  const read = checksOf.read(definition.health, place)
  if (place.isFine) return read
  throw HealthChecksError(`the plugin "${definition.name}" has health checks that cannot be used: ${place.summary}`)
}

function clash(name: string, first: string, second: string): Error {
  return HealthChecksError(
    `the plugins "${first}" and "${second}" both have the health check "${name}". Rename it in one of them, or define it in the options of health: health: { checks: { ${JSON.stringify(name)}: … } }`,
  )
}

/** Combines the checks of a plugin that is registered in several scopes into one, which uses the services of each scope. */
function together(all: readonly Found[]): () => unknown {
  return async () => {
    const outcomes = await Promise.all(
      all.map(async ({ plugin, check }) => check(plugin.scope.services as CheckedServices)),
    )
    return outcomes.includes(false) ? false : outcomes.find((outcome) => outcome === 'degraded')
  }
}
