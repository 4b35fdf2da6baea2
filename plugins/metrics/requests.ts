import type { Context, Request } from '../../kernel/index.ts'
import { RouteValue } from '../toolkit/route-value.ts'
import { Buckets } from './instruments.ts'
import type { Metrics } from './service.ts'
import type { Sample } from './text.ts'

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']

/** One route: an array of buckets for each class of status that it has answered with. */
class RouteFigures {
  readonly #labels: { readonly method: string; readonly route: string }
  readonly #bounds: readonly number[]
  readonly #ofClass: (Buckets | undefined)[] = classes.map(() => undefined)
  #bodies = 0
  #bytes = 0

  constructor(method: string, route: string, bounds: readonly number[]) {
    this.#labels = { method, route }
    this.#bounds = bounds
  }

  observe(req: Request, status: number, ms: number): void {
    const i = Math.floor(status / 100) - 1
    let buckets = this.#ofClass[i]
    if (buckets === undefined) {
      buckets = new Buckets(this.#bounds)
      this.#ofClass[i] = buckets
    }
    buckets.observe(ms / 1_000)
    const length = req.raw.header('content-length')
    if (length === undefined) return
    this.#bodies++
    // Of a request that was refused for it, the length may be no number.
    this.#bytes += Number(length) || 0
  }

  durations(): Sample[] {
    return this.#ofClass.flatMap(
      (buckets, i) => buckets?.samples({ ...this.#labels, status: classes[i] ?? 'other' }) ?? [],
    )
  }

  sizes(): Sample[] {
    if (this.#bodies === 0) return []
    return [
      { suffix: '_count', labels: this.#labels, value: this.#bodies },
      { suffix: '_sum', labels: this.#labels, value: this.#bytes },
    ]
  }
}

/** Counts the requests of a scope, by the pattern of their route: no path of a client becomes a label. */
export function countRequests(ctx: Context, metrics: Metrics, bounds: readonly number[]): void {
  const all: RouteFigures[] = []
  const add = (method: string, route: string) => {
    const one = new RouteFigures(method, route, bounds)
    all.push(one)
    return one
  }
  const ofRoutes = new RouteValue<RouteFigures>()
  ctx.onRoute((route) => ofRoutes.set(route, add(route.method, route.path)))
  // What no route answers: 404, 405, files. The methods are those that exist.
  const ofMiss = new Map([...methods, 'other'].map((method) => [method, add(method, '')]))
  ctx.onResponse((req, res, ms) => {
    const figures = ofRoutes.of(req) ?? ofMiss.get(req.method) ?? ofMiss.get('other')!
    figures.observe(req, res.statusCode, ms)
  })
  const { server } = ctx
  metrics.collect(() => [
    {
      name: 'http_request_duration_seconds',
      type: 'histogram',
      unit: 'seconds',
      help: 'Time until the answer was handed over, by route, method and class of status',
      samples: all.flatMap((one) => one.durations()),
    },
    {
      name: 'http_request_body_size_bytes',
      type: 'summary',
      unit: 'bytes',
      help: 'Declared lengths of request bodies',
      samples: all.flatMap((one) => one.sizes()),
    },
  ])
  if (ctx.scope !== '') return
  metrics.collect(() => [
    {
      name: 'http_requests_in_flight',
      type: 'gauge',
      help: 'Requests that are being worked on',
      samples: [{ value: server.requestsInFlight }],
    },
  ])
}
