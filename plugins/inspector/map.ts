import { clock, type Kernel, type PluginDefinition } from '../../kernel/index.ts'
import { storesOf } from '../shared/development/connections.ts'
import type { PanelServices } from '../shared/development/panels.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { safely } from '../shared/values/safely.ts'
import type { Activity } from './activities.ts'
import type { Recorder } from './recorder.ts'

/** Milliseconds that the counts of the map are about. */
const counted = 60_000

/** Of a name, or of a name because of another one: how often in the last minute, how often in vain, and milliseconds in all. */
const none = () => ({ count: 0, failed: 0, ms: 0 })

/** What the application consists of: its plugins, what they reach and run, and what has caused what in the last minute. */
export function mapOf({ listing }: Kernel, { activities }: Recorder, health: ReadonlyMap<string, string>): object {
  const nodes = new Map<string, ReturnType<typeof none>>()
  const edges = new Map<string, ReturnType<typeof none>>()
  const node = (name: string, kind: 'machine' | 'work') => madeIn(nodes, name, () => ({ name, kind, ...none() }))
  const edge = (from: string, to: string) => madeIn(edges, JSON.stringify([from, to]), () => ({ from, to, ...none() }))
  for (const { definition, scope, settings } of listing.plugins) {
    const { name, dependencies: needs } = definition
    const checks = Object.keys(definition.health ?? {}).flatMap((check) => health.get(check) ?? [])
    const worst = ['error', 'degraded', 'ok'].find((outcome) => checks.includes(outcome))
    madeIn(nodes, name, () => ({ name, kind: 'plugin', needs, health: worst, ...none() }))
    // A plugin that cannot say it now, such as before it has connected, is shown without.
    const machines = safely(() => [...reachedBy(definition, settings, scope.services as never)]) ?? []
    const work = safely(() => [...(definition.runs?.(scope.services as never) ?? [])]) ?? []
    for (const to of [...machines, ...work]) {
      node(to, machines.includes(to) ? 'machine' : 'work')
      edge(name, to)
    }
  }
  const since = clock.now() - counted
  const all = activities.all()
  const byId = new Map(all.map((one) => [one.id, one]))
  const published = new Map(all.map((one) => [`${one.trace} ${one.title}`, one] as const).reverse())
  for (const activity of all) {
    const name = groupOf(activity)
    if (name === undefined || activity.at < since) continue
    // Or the publication of its message, which another process may have received.
    const cause = byId.get(activity.parent!) ?? published.get(`${activity.trace} ${activity.title}`) ?? activity
    const from = groupOf(cause)
    if (from !== undefined) node(from, kindOf(cause))
    for (const counts of [node(name, kindOf(activity)), ...(from && from !== name ? [edge(from, name)] : [])]) {
      counts.count++
      counts.ms += activity.ms ?? 0
      if (activity.outcome === 'failed') counts.failed++
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] }
}

type Reaching = Pick<PluginDefinition<never, object>, 'reaches'>

function reachedBy({ reaches }: Reaching, settings: unknown, services: PanelServices): readonly string[] {
  const { store, lock } = Object(settings) as { readonly [member: string]: unknown }
  return reaches === undefined ? storesOf(store ?? lock) : reaches(settings as never, services)
}

const kindOf = ({ kind }: Activity) => (kind === 'redis' || kind === 'outgoing' ? 'machine' : 'work')

/** What an activity counts as; `undefined` for a line of the log or another moment. */
const groupOf = ({ kind, group, data }: Activity) =>
  kind === 'request' ? `${data.method} ${data.route ?? '(no route)'}` : group
