import { getHeapStatistics } from 'node:v8'
import { defineError, definePlugin, sendFailure, systemClock } from '../../kernel/index.ts'
import { watchLoopDelay } from '../shared/development/loop-delay.ts'
import { figure } from '../shared/development/metrics.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { limitsOf, OverloadState } from './gate.ts'
import { overloadOfRoute, overloadOptions } from './options.ts'

const OverloadError = defineError('OverloadError', 503, () => 'the server is overloaded; try again later')

/**
 * Refuses requests while the event loop, the heap or the requests in flight exceed their limits: 503 `OverloadError` with `Retry-After`.
 *
 * The route option `overload: false` exempts a route, as it does the routes of `health` and `metrics`.
 *
 * @example
 * new Server({ plugins: { overload: { maxRequestsInFlight: 200 } } })
 */
export const overload = definePlugin({
  name: 'overload',
  access: false,
  options: overloadOptions,
  inspector: () => [
    {
      title: 'Overload',
      columns: ['Metric', 'Now', 'Limit'],
      rows(services) {
        const { load, limits, share, refused } = services.get('overload')
        return [
          ['Event-loop delay, ms', load.eventLoopDelay, limits.eventLoopDelay],
          ['Heap in use, bytes', load.heapUsed, limits.heapUsed],
          ['Requests in flight', load.requestsInFlight, limits.requestsInFlight],
          ['Share of requests that is accepted', share, undefined],
          ['Requests that were refused', refused, undefined],
        ]
      },
    },
  ],
  routeOptions: { overload: overloadOfRoute },
  openapi: { failures: ({ options }) => (options.overload === false ? {} : { 503: 'ServiceUnavailable' }) },
  metrics: (services) => {
    const state = services.get('overload')
    return [
      figure('counter', 'overload_refused', 'Requests that were refused by overload', state.refused),
      // A sum of shares has no meaning: it would be 2 if two scopes accept everything.
      { ...figure('gauge', 'overload_share', 'The part of requests that is accepted', state.share), scopes: 'least' },
    ]
  },
  provide: (settings) => ({ overload: new OverloadState(limitsOf(settings)) }),
  setup(ctx, { retryAfter, sampleInterval }) {
    const { server, log } = ctx
    const state = ctx.services.get('overload')
    state.on = {
      began: (exceeded, load) =>
        log.warn({ exceeded, ...load }, `overloaded: requests are refused (${exceeded.join(', ')})`),
      ended: (refused, ms) =>
        log.warn({ refused, ms: Math.round(ms) }, `no longer overloaded; ${refused} were refused`),
    }

    let stop = () => {}
    ctx.onReady(() => {
      const delay = watchLoopDelay()
      const look = (eventLoopDelay: number) => {
        const { used_heap_size: heapUsed } = getHeapStatistics()
        state.look({ eventLoopDelay, heapUsed, requestsInFlight: server.requestsInFlight })
      }
      const timer = systemClock.setInterval(() => look(delay.take()), sampleInterval)
      timer.unref()
      stop = () => {
        systemClock.clear(timer)
        delay.stop()
      }
    })
    ctx.onClose(() => stop())

    const exempt = new RouteValue<true>()
    ctx.onRoute((route) => exempt.set(route, route.settings.overload === false ? true : undefined))

    // One error for all: an error with its stack for each refused request would cost the server more than the client.
    const error = OverloadError()
    ctx.use(function overload(req, res, next) {
      const { requestsInFlight } = server
      if (requestsInFlight <= state.most || exempt.of(req) || state.admits(requestsInFlight)) return next()
      res.setHeader('retry-after', retryAfter)
      sendFailure(req, res, error)
    })
  },
})
