import type { Attributes, Context, Span, TextMapGetter } from '@opentelemetry/api'
import type { ErrorTrace, Kernel, Request, RequestTrace, Route, StepTrace } from '../../kernel/index.ts'
import { followChannel, together } from '../shared/development/held-channel.ts'
import { methodAttribute } from '../shared/development/open-telemetry.ts'
import { isOwnRequest } from '../shared/development/own-requests.ts'
import { RouteValue } from '../shared/http/route-value.ts'
import { isHiddenName } from '../shared/values/marked.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { redactPath, secretsOf } from '../shared/values/redact.ts'
import { tenantKeptBy } from '../shared/values/tenants.ts'
import { whenOver, wrapWork } from '../shared/work/wrap-work.ts'
import type { TelemetrySettings } from './options.ts'
import { addressOf, isQuiet, methodOf, type Spans, tenantAttribute } from './spans.ts'

const headersOf: TextMapGetter<Request> = {
  get: (req, name) => req.raw.header(name),
  keys: (req) => Object.keys(req.headers),
}

/** What is decided about the requests of a route when it is registered; quiet ones have no spans. */
export const decided = ({ method, path }: Route, isQuiet: boolean) => ({
  isQuiet,
  method,
  name: `${method} ${path}`,
  handler: `handler ${path}`,
})

const followed = Symbol('telemetry')
/** In the request itself: a `WeakMap` takes longer than beginning a span that is not recorded, and makes each collection of garbage longer. */
type Traced = Request & { [followed]?: Followed }
const isOurs = Symbol('a request of the framework')

/** What is known about a request during its work and afterwards. */
interface Followed {
  readonly span: Span
  readonly context: Context
  /** Whether the span was made by an instrumentation, which will end it. */
  readonly isOuter: boolean
  /** How it has failed; anything can be thrown, `undefined` as well. */
  failure?: { readonly error?: unknown }
  /** The span of the latest step; what it waits for belongs to the steps after it. */
  step: Span | undefined
  isOver: boolean
}

/** Makes the spans of requests. */
export class RequestSpans {
  readonly #spans: Spans
  readonly #settings: TelemetrySettings
  readonly routes = new RouteValue<ReturnType<typeof decided>>()
  /** The spans of instrumentations that requests have taken. */
  readonly #taken = new WeakSet<Span>()
  /** What the contexts of requests are made from: a span in one of them is not that of an instrumentation. */
  readonly #root: Context

  constructor(spans: Spans, settings: TelemetrySettings) {
    this.#spans = spans
    this.#settings = settings
    this.#root = spans.api.ROOT_CONTEXT.setValue(isOurs, true)
  }

  /** The span of a request, even after the request is over. */
  of(request: object): Span | undefined {
    return (request as Traced)[followed]?.span
  }

  /** Makes spans of the requests of one server, except on quiet routes, from now on; returns a function that ends this. */
  follow(server: Kernel): () => void {
    const { api } = this.#spans
    const { steps, handlers } = this.#settings
    return together([
      wrapWork<RequestTrace>('request', (event, work) => {
        const { request } = event
        if (request.server !== server || !this.#spans.hasSdk || isOwnRequest(request)) return work()
        const route = this.routes.of(request)
        if (route?.isQuiet) return api.context.with(this.#silent(), work)
        const name = route?.method === request.method ? route.name : nameOf(request)
        const one = this.#begin(request, name)
        ;(request as Traced)[followed] = one
        // The span of a request that is not recorded has no end.
        if (steps || this.#spans.attempt(() => one.span.isRecording())) whenOver(event, () => this.#end(event, one))
        api.context.with(one.context, work)
      }),
      followChannel('framework:error', (event: ErrorTrace) => {
        const one = (event.request as Traced)[followed]
        if (one !== undefined) one.failure = event
      }),
      ...(steps ? [followChannel('framework:step', (event: StepTrace) => this.#step(event, server))] : []),
      ...(handlers ? [this.#followHandlers(server)] : []),
    ])
  }

  #followHandlers(server: Kernel): () => void {
    return this.#spans.follow<RequestTrace>({
      trace: 'handler',
      // A client's mistake is a response, not a failure of the handler.
      isFailure: ({ error }) => server.settings.errorFormat.of(error).status >= 500,
      // In a request that is not recorded, the span would belong to nothing.
      begin: ({ request }) =>
        request.server === server && this.of(request)?.isRecording() === true
          ? { name: this.routes.of(request)?.handler ?? 'handler' }
          : undefined,
    })
  }

  /** A context in which samplers that follow their parent record nothing. */
  #silent(): Context {
    const { trace, context, TraceFlags } = this.#spans.api
    const hex = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
    const nothing = { traceId: hex(16), spanId: hex(8), traceFlags: TraceFlags.NONE }
    return trace.setSpanContext(context.active().setValue(isQuiet, true), nothing)
  }

  #begin(request: Request, name: string): Followed {
    const { api } = this.#spans
    const active = api.context.active()
    const outer = api.trace.getSpan(active)
    // An instrumentation made the span for this very request: a server's span, not made here, nor used by another request.
    const isOfServer = (outer as { kind?: unknown } | undefined)?.kind === api.SpanKind.SERVER
    if (outer !== undefined && isOfServer && active.getValue(isOurs) === undefined && !this.#taken.has(outer)) {
      this.#taken.add(outer)
      const { route } = request
      if (route !== undefined)
        this.#spans.attempt(() => outer.isRecording() && outer.updateName(name).setAttribute('http.route', route))
      return { span: outer, context: active, isOuter: true, step: undefined, isOver: false }
    }
    const remote = this.#spans.extract(request, headersOf, this.#root)
    const isParent = this.#settings.incoming === 'parent'
    const { span, context } = this.#spans.begin({
      name,
      kind: api.SpanKind.SERVER,
      // The baggage is left out as well: what clients on the internet put in it would reach every service that this one calls.
      parent: isParent ? remote : this.#root,
      links: isParent ? undefined : this.#spans.linksTo(remote),
      attributes: sampledOf(request),
      more: () => attributesOf(request),
    })
    return { span, context, isOuter: false, step: undefined, isOver: false }
  }

  #step({ request, name }: StepTrace, server: Kernel): void {
    const one = (request as Traced)[followed]
    // Another server of the process makes the spans of its own requests.
    if (one === undefined || request.server !== server) return
    this.#spans.end(one.step)
    // The step began after the client had left.
    if (one.isOver) return
    // The handler has a span of its own, which ends when it does.
    one.step = name === 'handler' ? undefined : this.#spans.begin({ name: `step ${name}`, parent: one.context }).span
  }

  #end({ request, response }: RequestTrace, one: Followed): void {
    const { span, isOuter, failure } = one
    one.isOver = true
    this.#spans.end(one.step)
    const tenant = tenantKeptBy(request)
    if (tenant !== undefined) this.#spans.attempt(() => span.setAttribute(tenantAttribute, tenant.id))
    const { statusCode, aborted } = response
    // A client's mistake is not an error of the server.
    if (statusCode >= 500 && failure !== undefined && !aborted) this.#spans.fail(span, failure.error)
    if (isOuter) return
    if (aborted) {
      // The client has not received a status, and leaving is not an error of the server either.
      this.#spans.attempt(() => span.setAttribute('error.type', 'aborted'))
      this.#spans.end(span)
    }
    // A failure, with its message, has already set the status.
    else this.#spans.endWith(span, statusCode, failure === undefined ? 500 : Number.POSITIVE_INFINITY)
  }
}

const nameOf = ({ method, route }: Request) => {
  const { name } = methodOf(method)
  return route === undefined ? name : `${name} ${route}`
}

/** The attributes that samplers see. Without spreads, which take longer than the span itself on Node.js 20. */
function sampledOf({ method, path, params, protocol, route }: Request): Attributes {
  const known = methodAttribute(method)
  const attributes: Attributes = {
    'http.request.method': known,
    'url.path': redactPath(path, secretsOf(params, isHiddenName)),
    'url.scheme': protocol,
    'http.route': route,
  }
  if (known !== method) attributes['http.request.method_original'] = method
  return attributes
}

const addressIn = (url: URL) => ({ name: addressOf(url), port: url.port === '' ? undefined : Number(url.port) })

/** Addresses by scheme and host. Clients choose the host, so there is a limit. */
type Addresses = Map<unknown, ReturnType<typeof addressIn>>
const addresses = { http: new Map() as Addresses, https: new Map() as Addresses }

function attributesOf(request: Request): Attributes {
  const { protocol, raw, ip } = request
  const known = addresses[protocol]
  if (known.size > 100) known.clear()
  const { name, port } = madeIn(known, raw.host, () => addressIn(new URL(request.url)))
  return {
    'server.address': name,
    'server.port': port,
    'client.address': ip,
    'network.protocol.version': raw.version,
    'user_agent.original': raw.header('user-agent'),
  }
}
