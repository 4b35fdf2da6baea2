import type { Context, Request, Response } from '../../kernel/index.ts'
import { figure } from '../shared/development/metrics.ts'
import { methodAttribute } from '../shared/development/open-telemetry.ts'
import { isOwnRequest } from '../shared/development/own-requests.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { Buckets } from './instruments.ts'
import type { Metrics, RequestRecorder } from './service.ts'
import type { Family, Sample } from './text.ts'

/** Values of the label `status`; the last one is for a request whose client left before it had a response. */
const classes = ['1xx', '2xx', '3xx', '4xx', '5xx', 'aborted'] as const
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']

/** The figures of one route, with buckets for each class of its statuses. */
class RouteFigures {
  readonly #labels: { readonly method: string; readonly route: string }
  readonly #bounds: readonly number[]
  readonly #ofClass: (Buckets | undefined)[] = classes.map(() => undefined)
  readonly #received: Sizes = { bodies: 0, bytes: 0 }
  readonly #sent: Sizes = { bodies: 0, bytes: 0 }
  readonly #attributes = new Map<string, { [name: string]: string | number }>()

  constructor(method: string, route: string, bounds: readonly number[]) {
    this.#labels = { method, route }
    this.#bounds = bounds
  }

  observe(req: Request, res: Response, ms: number, record: RequestRecorder | undefined): void {
    const i = res.aborted ? classes.indexOf('aborted') : Math.floor(res.statusCode / 100) - 1
    this.#ofClass[i] ??= new Buckets(this.#bounds)
    this.#ofClass[i].observe(ms / 1_000)
    const declared = req.raw.header('content-length')
    // In a refused request, or one from `fetch`, it may have any value, and an infinite sum would stay for ever.
    const received = declared === undefined ? undefined : /^\d{1,15}$/.test(declared) ? Number(declared) : 0
    if (received !== undefined) count(this.#received, received)
    const sent = res.aborted ? undefined : res.bodySize
    if (sent !== undefined) count(this.#sent, sent)
    record?.(this.#attributesOf(req.protocol, res.aborted ? 'aborted' : res.statusCode), ms / 1_000, received, sent)
  }

  /** The attributes, created once for each status and scheme: this runs in every request. */
  #attributesOf(scheme: string, status: number | 'aborted'): { [name: string]: string | number } {
    return madeIn(this.#attributes, `${scheme} ${status}`, () => {
      const { method, route } = this.#labels
      return {
        'http.request.method': methodAttribute(method),
        ...(status !== 'aborted' && { 'http.response.status_code': status }),
        'url.scheme': scheme,
        ...(route !== '' && { 'http.route': route }),
        ...((status === 'aborted' || status >= 500) && { 'error.type': String(status) }),
      }
    })
  }

  durations(): Sample[] {
    return this.#ofClass.flatMap(
      (buckets, i) => buckets?.samples({ ...this.#labels, status: classes[i] ?? 'other' }) ?? [],
    )
  }

  sizes(of: 'received' | 'sent'): Sample[] {
    const { bodies, bytes } = of === 'sent' ? this.#sent : this.#received
    if (bodies === 0) return []
    return [
      { suffix: '_count', labels: this.#labels, value: bodies },
      { suffix: '_sum', labels: this.#labels, value: bytes },
    ]
  }
}

/** How many bodies there were, and their total bytes. */
interface Sizes {
  bodies: number
  bytes: number
}

function count(sizes: Sizes, bytes: number): void {
  sizes.bodies++
  sizes.bytes += bytes
}

/** Counts the requests of a scope, by the pattern of their route: a client's path never becomes a label. */
export function countRequests(ctx: Context, metrics: Metrics, bounds: readonly number[]): void {
  const all = new Map<string, RouteFigures>()
  const add = (method: string, route: string) =>
    madeIn(all, `${method} ${route}`, () => new RouteFigures(method, route, bounds))
  const ofRoutes = new RouteValue<RouteFigures>()
  ctx.onRoute((route) => ofRoutes.set(route, add(route.method, route.path)))
  // Requests without a route: 404, 405, files. Only methods that exist are listed.
  const ofMiss = new Map([...methods, 'other'].map((method) => [method, add(method, '')]))
  ctx.onResponse((req, res, ms) => {
    if (isOwnRequest(req)) return
    const figures = ofRoutes.of(req) ?? ofMiss.get(req.method) ?? ofMiss.get('other')!
    figures.observe(req, res, ms, metrics.requestRecorder)
  })
  /** Yields one route after the other as they are written: all together would be 140 000 samples for 10 000 routes. */
  const each = (of: (figures: RouteFigures) => readonly Sample[]): Iterable<Sample> => ({
    *[Symbol.iterator]() {
      for (const one of all.values()) yield* of(one)
    },
  })
  metrics.requestBuckets = bounds
  const { server } = ctx
  const lengths = (name: string, help: string, of: (figures: RouteFigures) => readonly Sample[]): Family => ({
    ...{ name, type: 'summary', unit: 'bytes', help },
    samples: each(of),
    isDistinct: true,
  })
  metrics.collect(() => [
    {
      name: 'http_request_duration_seconds',
      type: 'histogram',
      unit: 'seconds',
      help: 'Time until the response was handed over, by route, method and class of status',
      samples: each((one) => one.durations()),
      isDistinct: true,
    },
    lengths('http_request_body_size_bytes', 'Declared lengths of request bodies', (one) => one.sizes('received')),
    lengths(
      'http_response_body_size_bytes',
      'Lengths of response bodies as they left; streams without a declared length are not counted',
      (one) => one.sizes('sent'),
    ),
  ])
  if (ctx.scope !== '') return
  metrics.collect(() => [figure('gauge', 'http_requests_in_flight', 'Requests in progress', server.requestsInFlight)])
}
