import { definePlugin, type Handler } from '../../kernel/index.ts'
import { runChecks } from './checks.ts'
import { type HealthOptions, settingsOf } from './options.ts'

/**
 * Two probes: `/health/live` says that the process answers, `/health/ready` that it should be sent requests.
 *
 * Ready is 503 until every plugin has started, as soon as the server begins to close (within the drain window, so
 * that a load balancer takes it out first), and while a check fails. Live stays 200.
 *
 * @example
 * new Server({ plugins: { health: { checks: { database: () => pool.query('select 1').then(() => true) } } } })
 */
export const health = definePlugin({
  name: 'health',
  setup(ctx, options: HealthOptions = {}) {
    const { live, ready, checks, timeout } = settingsOf(options)
    const routeOptions = { log: false, apidoc: { tags: ['health'] } }
    const answerLive: Handler = (_req, res) => {
      res.setHeader('cache-control', 'no-store')
      return { status: 'ok' }
    }
    const answerReady: Handler = async (req, res) => {
      res.setHeader('cache-control', 'no-store')
      if (ctx.server.isClosing) return res.serviceUnavailable({ status: 'closing' })
      if (!ctx.server.isReady) return res.serviceUnavailable({ status: 'starting' })
      const results = await runChecks(checks, timeout, (name, error) =>
        req.log.warn({ err: error, check: name }, `the health check "${name}" failed`),
      )
      const failed = Object.values(results).includes('error')
      return failed ? res.serviceUnavailable({ status: 'error', checks: results }) : { status: 'ok', checks: results }
    }
    if (live !== false) ctx.get(live, routeOptions, answerLive)
    if (ready !== false) ctx.get(ready, routeOptions, answerReady)
  },
})
