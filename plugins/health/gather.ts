import { defineError, didYouMean, type Listing, OptionPlace } from '../../kernel/index.ts'
import { askedCheck, type Result, worstOf } from './checks.ts'
import { type CheckedServices, checks as checksOf, type HealthSettings, type ReadCheck } from './options.ts'

export const HealthChecksError = defineError('HealthChecksError', (why: string) => why)

interface Found {
  readonly plugin: Listing['plugins'][number]
  readonly check: ReadCheck
}

type Asking = Record<string, () => Promise<Result>>

/**
 * Returns the checks of the options and of plugins, by name, each with the services of its own scope, and as the options count them.
 *
 * @throws HealthChecksError for an invalid check, when two plugins have checks of the same name, and when an option names a check that
 * does not exist.
 */
export function gatherChecks({ plugins }: Listing, settings: HealthSettings, services: CheckedServices): Asking {
  const { checks, timeout, degrade, require, off, cacheFor } = settings
  const found = new Map<string, Found[]>()
  for (const plugin of plugins) {
    for (const [name, check] of Object.entries(checksIn(plugin))) {
      const before = found.get(name) ?? []
      const other = before.find((one) => one.plugin.definition !== plugin.definition)
      if (other !== undefined && !Object.hasOwn(checks, name) && !off.includes(name))
        throw HealthChecksError(
          `the plugins "${other.plugin.definition.name}" and "${plugin.definition.name}" both have the health check "${name}". Rename it in one of them, or define it in the options of health: health: { checks: { ${JSON.stringify(name)}: … } }`,
        )
      found.set(name, [...before, { plugin, check }])
    }
  }
  const names = [...new Set([...found.keys(), ...Object.keys(checks)])]
  mustExist({ degrade, require, off, cacheFor: Object.keys(cacheFor) }, names)
  const asking: Asking = {}
  for (const name of names.filter((one) => !off.includes(one))) {
    const make = (check: ReadCheck, of: CheckedServices) => askedCheck(check, of, timeout, cacheFor[name])
    const all = Object.hasOwn(checks, name)
      ? [make(checks[name]!, services)]
      : found.get(name)!.map(({ plugin, check }) => make(check, plugin.scope.services as CheckedServices))
    const count = counted(name, settings)
    // A plugin that is registered in several scopes is as healthy as in the worst of them.
    asking[name] = async () => count(worstOf(await Promise.all(all.map((ask) => ask()))))
  }
  return asking
}

/** Changes the outcome of a check as the options say. */
function counted(name: string, { degrade, require }: HealthSettings): (result: Result) => Result {
  return (result) => {
    if (degrade.includes(name) && result.outcome === 'error') return { ...result, outcome: 'degraded' }
    if (require.includes(name) && result.outcome === 'degraded') return { ...result, outcome: 'error' }
    return result
  }
}

/** A misspelt name would leave a check as it is. */
function mustExist(lists: { readonly [option: string]: readonly string[] }, names: readonly string[]): void {
  for (const [list, given] of Object.entries(lists)) {
    const unknown = given.find((name) => !names.includes(name))
    if (unknown === undefined) continue
    throw HealthChecksError(
      `health.${list} names "${unknown}", and there is no such check.${didYouMean(unknown, names)} Known checks: ${names.join(', ') || 'none'}`,
    )
  }
}

function checksIn({ definition }: Found['plugin']): Readonly<Record<string, ReadCheck>> {
  if (definition.health === undefined) return {}
  const place = new OptionPlace('health')
  const read = checksOf.read(definition.health, place)
  if (place.isFine) return read
  throw HealthChecksError(`the plugin "${definition.name}" has health checks that cannot be used: ${place.summary}`)
}
