import { definePlugin, type Request, type Response } from '../../kernel/index.ts'
import { exportLast } from '../shared/development/open-telemetry.ts'
import { isFetchFollowed, isOnNode } from '../shared/development/outgoing.ts'
import { peer } from '../shared/environment/optional-package.ts'
import { addLogFields } from '../shared/logging/log-fields.ts'
import { option } from '../shared/options/index.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { eachWorkOf } from '../shared/work/kind.ts'
import { followFetch } from './fetch.ts'
import { telemetryOptions } from './options.ts'
import { decided, RequestSpans } from './requests.ts'
import { Telemetry } from './service.ts'
import { Spans } from './spans.ts'
import { followPlugins, followWork } from './work.ts'

/** What is followed of the whole process, once for all its servers: following it again would make each span twice. */
const following = { servers: 0, channels: new Map<string, () => void>() }

const followOnce = (channel: string, follow: () => () => void) => madeIn(following.channels, channel, follow)

/**
 * Supports OpenTelemetry: a span for each request, attempt, message, email, run of a job, …, one trace through all of them, and its ids in
 * the lines of the log. The SDK, which exports the spans, is up to the application.
 *
 * The route option `telemetry: false` leaves out a route and its work.
 *
 * @example
 * new Server({ plugins: { telemetry: true } })
 */
export const telemetry = definePlugin({
  name: 'telemetry',
  access: false,
  options: telemetryOptions,
  routeOptions: { telemetry: option.off() },
  provide: () => ({ telemetry: new Telemetry() }),
  async setup(ctx, settings) {
    const api = await peer('@opentelemetry/api', () => import('@opentelemetry/api'), 'the telemetry plugin')
    const spans = new Spans(api, ctx.log)
    const requests = new RequestSpans(spans, settings)
    const service = ctx.services.get('telemetry')

    following.servers++
    eachWorkOf(ctx, 'telemetry', (kind) => {
      if (kind.form !== 'part' || settings.resolvers) followOnce(kind.channel, () => followWork(spans, settings, kind))
    })
    if (settings.plugins) followOnce('plugin', () => followPlugins(spans))
    if (isOnNode && (settings.fetch === 'auto' ? !isFetchFollowed() : settings.fetch))
      followOnce('fetch', () => followFetch(spans))
    service.start(spans, isOnNode && (following.channels.has('fetch') || isFetchFollowed()))
    ctx.onClose(async () => {
      service.stop()
      following.servers--
      if (following.servers === 0) {
        for (const end of following.channels.values()) end()
        following.channels.clear()
      }
      await exportLast(spans.sdk, 'telemetry: the last spans', ctx.log)
    })

    ctx.onRoute((route) => requests.routes.set(route, decided(route, route.settings.telemetry === false)))
    if (settings.requests) ctx.onClose(requests.follow(ctx.server))

    const removeFields = addLogFields((request) => {
      const found = spans.contextOf((request && requests.of(request)) ?? api.trace.getActiveSpan())
      return found && { trace_id: found.traceId, span_id: found.spanId }
    })
    ctx.onClose(removeFields)

    if (settings.traceResponse) {
      const name = (req: Request, res: Response) => {
        const found = spans.contextOf(requests.of(req))
        if (found === undefined) return
        const flags = found.traceFlags.toString(16).padStart(2, '0')
        res.setHeader('traceresponse', `00-${found.traceId}-${found.spanId}-${flags}`)
      }
      ctx.onSend(name)
      // The response that replaces that of a failed error handler does not pass through onSend hooks.
      ctx.onError((_error, req, res) => name(req, res))
    }

    ctx.onReady(() => {
      if (spans.hasSdk) return
      const why =
        'no SDK of OpenTelemetry is registered, so there are no spans to export. Register one before the server boots'
      ctx.log.warn({}, `telemetry: ${why}`)
    })
  },
})
