import type { Context, Listing, Middleware } from '../../kernel/index.ts'
import { defineErrors, definePlugin, OptionError, sendFailure, systemClock, within } from '../../kernel/index.ts'
import { type AccessWay, markConditions } from '../shared/development/access.ts'
import { together } from '../shared/development/held-channel.ts'
import { isForwarded } from '../shared/development/loopback.ts'
import type { Figure } from '../shared/development/metrics.ts'
import { exportLast, type OpenTelemetryApi } from '../shared/development/open-telemetry.ts'
import { announcePage } from '../shared/development/pages.ts'
import { nodeEnv } from '../shared/environment/node-env.ts'
import { peer } from '../shared/environment/optional-package.ts'
import { isLeading } from '../shared/environment/supervisor.ts'
import { inNetworks } from '../shared/http/network.ts'
import { Availability, reporting } from '../shared/stores/availability.ts'
import { sharing } from '../shared/values/memoize.ts'
import { eachWorkOf } from '../shared/work/kind.ts'
import { checkFigures, defaultBuckets } from './instruments.ts'
import { Listener } from './listener.ts'
import { exportMetrics, hasMeterProvider, ownFamilies } from './open-telemetry.ts'
import { type MetricsOptions, metricsOptions } from './options.ts'
import { countProcess, countWork } from './process.ts'
import { countRequests } from './requests.ts'
import { Metrics } from './service.ts'
import { contentType } from './text.ts'

const { MetricsAccessError, MetricsExportError, MetricsForbiddenError } = defineErrors({
  MetricsAccessError: (why: string) => why,
  MetricsExportError: () =>
    'metrics.openTelemetry has nothing to export to: no MeterProvider of OpenTelemetry is registered. Call metrics.setGlobalMeterProvider(…) of "@opentelemetry/api" before the server listens, or leave the option out',
  MetricsForbiddenError: [403, () => 'this address may not read the metrics'],
})

/**
 * Counts requests, the process and the work of the services, and serves the counts as OpenMetrics text at `/metrics`.
 *
 * Outside of development the application must restrict access: with `policy`, `addresses`, or a separate `port`.
 *
 * @example
 * new Server({ plugins: { metrics: { port: 9464 } } })
 */
export const metrics = definePlugin({
  name: 'metrics',
  access: { routes: true, ways },
  options: metricsOptions,
  doctor: async () => (await import('./doctor.ts')).checks,
  inspector: () => [
    {
      title: 'Metrics',
      columns: ['Metric', 'Value'],
      charts: true,
      async rows(services) {
        const lines = (await services.get('metrics').text()).split('\n')
        // Leaves out buckets, which are for machines.
        const samples = lines.filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'))
        return samples.map((line) => {
          const at = line.lastIndexOf(' ')
          return [line.slice(0, at), Number(line.slice(at + 1))]
        })
      },
    },
  ],
  provide: (settings) => ({ metrics: new Metrics(settings, ownFamilies) }),
  async setup(ctx, { path, policy, addresses, port, host, buckets, openTelemetry }) {
    const service = ctx.services.get('metrics')
    const isNamed = policy !== undefined || (addresses !== undefined && addresses.length > 0)
    if (port !== undefined && isNamed)
      throw MetricsAccessError(
        'metrics.port is a separate listener, which checks neither policy nor addresses: leave out one of them',
      )
    const isShown = isNamed || port !== undefined || !openTelemetry
    if (!isNamed && port === undefined && isShown && !['development', 'test'].includes(nodeEnv() ?? ''))
      throw MetricsAccessError(
        'everyone could read the metrics. Set metrics.policy, metrics.addresses (["10.0.0.0/8"]), or metrics.port for a port of their own; NODE_ENV=development needs none',
      )
    service.reportTo((metric, what) => ctx.log.warn({ metric }, `the metric "${metric}": ${what}`))

    // Before anything follows the process, which the close hook ends: one whose setup fails has none.
    const api =
      openTelemetry && (await peer('@opentelemetry/api', () => import('@opentelemetry/api'), 'metrics.openTelemetry'))
    countRequests(ctx, service, buckets ?? defaultBuckets)
    const stops = [countProcess(service)]
    eachWorkOf(ctx, 'metrics', (kind) => {
      if (kind.form !== 'part') stops.push(countWork(service, kind))
    })
    service.collect(figuresOf(ctx))

    const stopExport = api ? exportOf(ctx, api) : async () => {}
    let listener: Listener | undefined
    ctx.onClose(async () => {
      await stopExport()
      together(stops)()
      service.port = undefined
      await listener?.close()
    })
    if (!isShown) return
    if (port === undefined) serve(ctx, path, { policy, addresses })
    else {
      const { worker } = ctx.server
      if (port > 0 && port + (worker?.of ?? 1) - 1 > 65_535)
        throw OptionError('metrics.port', port, `a port with one above it for each of ${worker!.of} workers`)
      ctx.onListen(async () => {
        // Each worker has its own figures, and therefore its own port.
        const own = port === 0 ? 0 : port + (worker?.number ?? 1) - 1
        listener = new Listener({
          port: own,
          host,
          path,
          // In a rolling restart the previous worker continues until this one listens. The very first worker replaces none.
          takesOver: worker !== undefined && !isLeading(worker),
          text: () => service.text(),
          onListening(at) {
            service.port = at
            ctx.log.info({ port: at, host }, `metrics at http://${host}:${at}${path}`)
          },
          onFailure: (what, err) =>
            ctx.log.warn(
              { err, port: own },
              what === 'port'
                ? `the port ${own} of the metrics is taken, by the worker before this one or by another program; it is tried again until it is free`
                : 'the metrics cannot be read',
            ),
        })
        await listener.open()
      })
    }
  },
})

/** The port of the metrics, for `framework access`. */
function ways({ path = '', port, host = '127.0.0.1' }: MetricsOptions): AccessWay[] {
  return port === undefined
    ? []
    : [{ method: 'PORT', path: `${port}${path}`, conditions: { host: [host] }, after: 'none' }]
}

/** Exports once the server is ready or listens: until then the application may register its SDK. Returns a function that ends this. */
function exportOf(ctx: Context, api: OpenTelemetryApi): () => Promise<void> {
  let stop: (() => void) | undefined
  const start = () => {
    if (stop === undefined && hasMeterProvider(api)) stop = exportMetrics(api, ctx.services.get('metrics'), ctx.server)
    return stop !== undefined
  }
  // Not an error yet: a server in a test, which does not listen, needs no SDK.
  ctx.onReady(() => void start())
  ctx.onListen(() => {
    if (!start()) throw MetricsExportError()
  })
  return async () => {
    if (stop === undefined) return
    await exportLast(api.metrics.getMeterProvider(), 'metrics: the last values', ctx.log)
    stop()
  }
}

function serve(
  ctx: Context,
  path: string,
  { policy, addresses }: { readonly policy: unknown; readonly addresses: readonly string[] | undefined },
): void {
  const service = ctx.services.get('metrics')
  const middlewares =
    addresses === undefined ? [] : [markConditions(onlyFrom(addresses, ctx.hasPlugin('trustProxy')), { addresses })]
  const access = { middlewares, ...(policy !== undefined && { policy: policy as never }) }
  const quiet = { log: false, overload: false, rateLimit: false, tenant: false, timeout: false, apidoc: false } as const
  announcePage(ctx.server, 'metrics', ctx.prefix + path)
  ctx.get(path, { ...quiet, ...access }, async function metrics(_req, res) {
    const text = await service.text()
    res.setHeader('cache-control', 'no-store').setHeader('content-type', contentType)
    return res.text(text)
  })
}

/** Allows only these addresses. Behind a proxy that is not configured, every client has the address of the proxy. */
function onlyFrom(addresses: readonly string[], knowsProxies: boolean): Middleware {
  const isAllowed = inNetworks(addresses)
  const error = MetricsForbiddenError()
  return function addresses(req, res, next) {
    if ((knowsProxies || !isForwarded(req.raw)) && isAllowed(req.ip)) return next()
    sendFailure(req, res, error)
  }
}

/** The `metrics` of plugins' definitions. If one fails, its figures are missing, which is logged once, and the others are shown. */
function figuresOf(ctx: Context): () => Promise<readonly Figure[]> {
  const sourceOf = ({ definition, scope }: Listing['plugins'][number]) => {
    // A plugin that does not respond is not called again until it has.
    const read = sharing(async () => {
      const figures = await definition.metrics!(scope.services as never)
      // Figures that the format cannot express would invalidate the whole text.
      checkFigures(figures)
      return figures
    })
    const down = `the figures of the plugin "${definition.name}" cannot be read`
    const availability = new Availability(reporting(ctx.log, down))
    const late = () => {
      throw new Error(`no response within ${figuresTimeout} ms`)
    }
    const inTime = () => within(read(), figuresTimeout, late, systemClock)
    return async () => (await availability.watch(inTime)) ?? []
  }
  let sources: (() => Promise<readonly Figure[]>)[] = []
  ctx.onReady(() => {
    // Every plugin is registered by now.
    sources = ctx.server.listing.plugins.filter(({ definition }) => definition.metrics !== undefined).map(sourceOf)
  })
  return async () => (await Promise.all(sources.map((read) => read()))).flat()
}

/** Milliseconds. Prometheus abandons a scrape after 10 s: the figures of the other plugins must have been sent by then. */
const figuresTimeout = 5_000
