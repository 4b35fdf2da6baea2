import { definePlugin, type Handler, type Kernel } from '../../kernel/index.ts'
import type { ApiDoc } from '../openapi/index.ts'
import { figure } from '../shared/development/metrics.ts'
import { announcePage } from '../shared/development/pages.ts'
import { type Outcome, type Probed, probes, type Results, reasonOf, watchChecks, worstOf } from './checks.ts'
import { gatherChecks } from './gather.ts'
import { healthOptions } from './options.ts'

/** What a check does whose outcome has changed, for the log. */
const changes: Readonly<Record<Outcome, string>> = { ok: 'passes again', degraded: 'is degraded', error: 'fails' }

/** The value of each outcome in metrics: `health_check < 1` finds everything that is not as it should be. */
const values: Readonly<Record<Outcome, number>> = { ok: 1, degraded: 0.5, error: 0 }

/**
 * Adds two probes: `/health/live` shows that the process responds, `/health/ready` that it should receive requests.
 *
 * Ready is 503 until the server has started, from the moment that it begins to close (within the drain window, so that a load
 * balancer first takes it out of rotation), and while a check fails: one in the options, or one in the member `health` of a plugin's
 * definition, as all plugins of the framework with a store, an engine, a broker or another server have. Live remains 200. The probes are
 * neither cached nor logged.
 *
 * @example
 * const checks = { database: () => pool.query('select 1') }
 * new Server({ plugins: { health: { checks, degrade: ['storage'] } } })
 */
export const health = definePlugin({
  name: 'health',
  access: { routes: true },
  options: healthOptions,
  inspector: () => [
    {
      title: 'Health',
      columns: ['Check', 'Outcome', 'Reason'],
      async rows(services) {
        const { status, results } = await probes.get(services)!()
        const rows = Object.entries(results).map(([name, result]) => [name, result.outcome, reasonOf(result)])
        return [['Ready', status], ...rows]
      },
    },
  ],
  doctor: async () => (await import('./doctor.ts')).checks,
  async metrics(services) {
    const { results } = await probes.get(services)!()
    const samples = Object.entries(results).map(([check, { outcome }]) => ({
      value: values[outcome],
      labels: { check },
    }))
    const help = 'Outcome of a health check: 1 for ok, 0.5 for degraded, 0 for error'
    return [{ ...figure('gauge', 'health_check', help, samples), scopes: 'least' }]
  },
  setup(ctx, settings) {
    const { live, ready } = settings
    let check = async (): Promise<Results> => ({})
    ctx.onReady(() => {
      // Every plugin is registered by now.
      check = watchChecks(gatherChecks(ctx.server.listing, settings, ctx.services), (name, { outcome, error }) => {
        const fields = { check: name, ...(error !== undefined && { err: error }) }
        ctx.log.warn(fields, `the health check "${name}" ${changes[outcome]}`)
      })
    })

    const respondLive: Handler = function live(_req, res) {
      return res.setHeader('cache-control', 'no-store').ok({ status: 'ok' })
    }
    const probe = async (): Promise<Probed> => {
      const results = await check()
      // The status is read after the checks, because closing may have begun while they ran.
      return { status: statusOf(ctx.server, results), results }
    }
    probes.set(ctx.services, probe)
    const respondReady: Handler = async function ready(_req, res) {
      const { status, results } = await probe()
      const checks = Object.fromEntries(Object.entries(results).map(([name, { outcome }]) => [name, outcome]))
      res.setHeader('cache-control', 'no-store')
      return res.status(status === 'ok' || status === 'degraded' ? 200 : 503).json({ status, checks })
    }

    const quiet = { auth: false, log: false, overload: false, rateLimit: false, tenant: false, timeout: false } as const
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

function statusOf(server: Kernel, results: Results): Probed['status'] {
  if (server.isClosing) return 'closing'
  if (!server.isReady) return 'starting'
  return worstOf(Object.values(results)).outcome
}
