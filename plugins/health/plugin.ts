import { announcePluginData, definePlugin, type Handler, type Kernel } from '../../kernel/index.ts'
import type { ApiDoc } from '../openapi/index.ts'
import { announcePage } from '../shared/development/pages.ts'
import { type Outcome, probes, watchChecks } from './checks.ts'
import { gatherChecks } from './gather.ts'
import { healthOptions } from './options.ts'

announcePluginData('health')

/**
 * Adds two probes: `/health/live` shows that the process responds, `/health/ready` that it should receive requests.
 *
 * Ready is 503 until the server has started, from the moment that it begins to close (within the drain window, so that a load
 * balancer first takes it out of rotation), and while a check fails: one in the options, or one in the member `health` of a plugin's
 * definition, as `session`, `channels`, `queues`, `cache` and `rateLimit` have. Live remains 200. The probes are neither cached nor logged.
 *
 * @example
 * const checks = { database: () => pool.query('select 1') }
 * new Server({ plugins: { health: { checks } } })
 */
export const health = definePlugin({
  name: 'health',
  options: healthOptions,
  inspector: async () => (await import('./inspector.ts')).panels,
  setup(ctx, { live, ready, checks, timeout }) {
    const own = Object.entries(checks).map(([name, check]) => [name, () => check(ctx.services)] as const)
    const watch = (gathered: Readonly<Record<string, () => unknown>>) =>
      watchChecks({ ...gathered, ...Object.fromEntries(own) }, timeout, (name, outcome, error) => {
        if (outcome === 'ok') ctx.log.warn({ check: name }, `the health check "${name}" passes again`)
        else if (outcome === 'degraded') ctx.log.warn({ check: name }, `the health check "${name}" is degraded`)
        else ctx.log.warn({ check: name, err: error }, `the health check "${name}" fails`)
      })
    let check = watch({})
    ctx.onReady(() => {
      // Every plugin is registered by now.
      check = watch(gatherChecks(ctx.server.listing, Object.keys(checks)))
    })

    const respondLive: Handler = function live(_req, res) {
      return res.setHeader('cache-control', 'no-store').ok({ status: 'ok' })
    }
    const probe = async () => {
      const outcomes = await check()
      // The status is read after the checks, because closing may have begun while they ran.
      return { status: statusOf(ctx.server, outcomes), checks: outcomes }
    }
    probes.set(ctx.services, probe)
    const respondReady: Handler = async function ready(_req, res) {
      const probed = await probe()
      res.setHeader('cache-control', 'no-store')
      return res.status(probed.status === 'ok' || probed.status === 'degraded' ? 200 : 503).json(probed)
    }

    const quiet = { log: false, overload: false, rateLimit: false, timeout: false } as const
    for (const path of [live, ready]) if (path !== false) announcePage(ctx.server, 'health', ctx.prefix + path)
    if (live !== false) ctx.get(live, { ...quiet, apidoc: liveDoc }, respondLive)
    if (ready !== false) ctx.get(ready, { ...quiet, apidoc: readyDoc }, respondReady)
  },
})

const tags = ['health']
const liveDoc: ApiDoc = {
  tags,
  summary: 'Reports that the process responds',
  responses: { 200: { type: 'object', properties: { status: { const: 'ok' } }, required: ['status'] } },
}
const readiness = (...statuses: string[]) => ({
  type: 'object',
  properties: {
    status: { enum: statuses },
    checks: { type: 'object', additionalProperties: { enum: ['ok', 'degraded', 'error'] } },
  },
  required: ['status', 'checks'],
})
const readyDoc: ApiDoc = {
  tags,
  summary: 'Reports whether the server is ready for requests',
  responses: { 200: readiness('ok', 'degraded'), 503: readiness('error', 'starting', 'closing') },
}

function statusOf(server: Kernel, outcomes: Record<string, Outcome>): Outcome | 'starting' | 'closing' {
  if (server.isClosing) return 'closing'
  if (!server.isReady) return 'starting'
  const all = Object.values(outcomes)
  return (['error', 'degraded'] as const).find((outcome) => all.includes(outcome)) ?? 'ok'
}
