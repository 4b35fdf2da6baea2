import type { Context, Request, Response } from '../../kernel/index.ts'
import { isOwnRequest } from '../toolkit/own-requests.ts'
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
  readonly #received = new Sizes()
  readonly #sent = new Sizes()

  constructor(method: string, route: string, bounds: readonly number[]) {
    this.#labels = { method, route }
    this.#bounds = bounds
  }

  observe(req: Request, res: Response, ms: number): void {
    const i = Math.floor(res.statusCode / 100) - 1
    let buckets = this.#ofClass[i]
    if (buckets === undefined) {
      buckets = new Buckets(this.#bounds)
      this.#ofClass[i] = buckets
    }
    buckets.observe(ms / 1_000)
    const received = req.raw.header('content-length')
    // Of a request that was refused for it, or that came in by `fetch`, it may be anything: one that is not finite would stay for ever.
    if (received !== undefined) this.#received.add(/^\d{1,15}$/.test(received) ? Number(received) : 0)
    const sent = res.bodySize
    if (sent !== undefined) this.#sent.add(sent)
  }

  durations(): Sample[] {
    return this.#ofClass.flatMap(
      (buckets, i) => buckets?.samples({ ...this.#labels, status: classes[i] ?? 'other' }) ?? [],
    )
  }

  received(): Sample[] {
    return this.#received.samples(this.#labels)
  }

  sent(): Sample[] {
    return this.#sent.samples(this.#labels)
  }
}

/** How many bodies there were, and how many bytes. */
class Sizes {
  #bodies = 0
  #bytes = 0

  add(bytes: number): void {
    this.#bodies++
    this.#bytes += bytes
  }

  samples(labels: { readonly method: string; readonly route: string }): Sample[] {
    if (this.#bodies === 0) return []
    return [
      { suffix: '_count', labels, value: this.#bodies },
      { suffix: '_sum', labels, value: this.#bytes },
    ]
  }
}

export const requestFamilies = [
  'http_request_duration_seconds',
  'http_request_body_size_bytes',
  'http_response_body_size_bytes',
  'http_requests_in_flight',
]

/** Counts the requests of a scope, by the pattern of their route: no path of a client becomes a label. */
export function countRequests(ctx: Context, metrics: Metrics, bounds: readonly number[]): void {
  const all = new Map<string, RouteFigures>()
  const add = (method: string, route: string) => {
    const one = all.get(`${method} ${route}`) ?? new RouteFigures(method, route, bounds)
    all.set(`${method} ${route}`, one)
    return one
  }
  const ofRoutes = new RouteValue<RouteFigures>()
  ctx.onRoute((route) => ofRoutes.set(route, add(route.method, route.path)))
  // What no route answers: 404, 405, files. The methods are those that exist.
  const ofMiss = new Map([...methods, 'other'].map((method) => [method, add(method, '')]))
  ctx.onResponse((req, res, ms) => {
    if (isOwnRequest(req)) return
    const figures = ofRoutes.of(req) ?? ofMiss.get(req.method) ?? ofMiss.get('other')!
    figures.observe(req, res, ms)
  })
  /** One route after the other, as they are written: all at once would be 140 000 samples for 10 000 routes. */
  function* each(of: (figures: RouteFigures) => readonly Sample[]): Iterable<Sample> {
    for (const one of all.values()) yield* of(one)
  }
  const { server } = ctx
  metrics.collect(() => [
    {
      name: 'http_request_duration_seconds',
      type: 'histogram',
      unit: 'seconds',
      help: 'Time until the answer was handed over, by route, method and class of status',
      samples: each((one) => one.durations()),
      isDistinct: true,
    },
    {
      name: 'http_request_body_size_bytes',
      type: 'summary',
      unit: 'bytes',
      help: 'Declared lengths of request bodies',
      samples: each((one) => one.received()),
      isDistinct: true,
    },
    {
      name: 'http_response_body_size_bytes',
      type: 'summary',
      unit: 'bytes',
      help: 'Lengths of response bodies as they left; streams without a declared length are not counted',
      samples: each((one) => one.sent()),
      isDistinct: true,
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
