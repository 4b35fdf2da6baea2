import type { Attributes, Context, Span, TextMapGetter } from '@opentelemetry/api'
import type { ErrorTrace, Kernel, Request, RequestTrace, StepTrace } from '../../kernel/index.ts'
import { followChannel, together } from '../shared/development/held-channel.ts'
import { isOwnRequest } from '../shared/development/own-requests.ts'
import { isHiddenName } from '../shared/values/marked.ts'
import { redactPath, secretsOf } from '../shared/values/redact.ts'
import { tenantKeptBy } from '../shared/values/tenants.ts'
import { wrapWork } from '../shared/work/wrap-work.ts'
import type { TelemetrySettings } from './options.ts'
import { addressOf, methodOf, type Spans, tenantAttribute } from './spans.ts'

const headersOf: TextMapGetter<Request> = {
  get: (req, name) => req.raw.header(name),
  keys: (req) => Object.keys(req.headers),
}

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
  readonly #followed = new WeakMap<object, Followed>()
  readonly #own = new WeakSet<Span>()

  constructor(spans: Spans, settings: TelemetrySettings) {
    this.#spans = spans
    this.#settings = settings
  }

  /** The span of a request, even after the request is over. */
  of(request: object): Span | undefined {
    return this.#followed.get(request)?.span
  }

  /** Makes spans of the requests of one server, except on quiet routes, from now on; returns a function that ends this. */
  follow(server: Kernel, isQuiet: (req: Request) => boolean): () => void {
    const { api } = this.#spans
    const isOurs = ({ request }: { readonly request: Request }) => request.server === server
    const { steps, handlers } = this.#settings
    const ends = [
      wrapWork<RequestTrace>('request', (event, work) => {
        const { request } = event
        if (!isOurs(event) || !this.#spans.hasSdk || isOwnRequest(request)) return work()
        if (isQuiet(request)) return api.context.with(this.#silent(), work)
        const followed = this.#begin(request)
        this.#followed.set(request, followed)
        api.context.with(followed.context, work)
      }),
      followChannel('tracing:framework:request:asyncEnd', (event: RequestTrace) => isOurs(event) && this.#end(event)),
      followChannel('framework:error', (event: ErrorTrace) => {
        const followed = this.#followed.get(event.request)
        if (followed !== undefined) followed.failure = event
      }),
    ]
    if (steps) ends.push(followChannel('framework:step', (event: StepTrace) => isOurs(event) && this.#step(event)))
    if (handlers) ends.push(this.#followHandlers(server))
    return together(ends)
  }

  #followHandlers(server: Kernel): () => void {
    return this.#spans.follow<RequestTrace>({
      trace: 'handler',
      // A client's mistake is a response, not a failure of the handler.
      isFailure: ({ error }) => server.settings.errorFormat.of(error).status >= 500,
      // In a request that is not recorded, the span would belong to nothing.
      begin: ({ request }) =>
        request.server === server && this.of(request)?.isRecording() === true
          ? { name: `handler ${request.route ?? ''}`.trim() }
          : undefined,
    })
  }

  /** A context in which samplers that follow their parent record nothing. */
  #silent(): Context {
    const { trace, context, TraceFlags } = this.#spans.api
    const hex = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
    const nothing = { traceId: hex(16), spanId: hex(8), traceFlags: TraceFlags.NONE }
    return trace.setSpanContext(context.active(), nothing)
  }

  #begin(request: Request): Followed {
    const { api } = this.#spans
    const active = api.context.active()
    const outer = api.trace.getSpan(active)
    if (outer !== undefined && this.#isOfServer(outer)) {
      this.#own.add(outer)
      const { route } = request
      if (route !== undefined)
        this.#spans.attempt(
          () => outer.isRecording() && outer.updateName(nameOf(request)).setAttribute('http.route', route),
        )
      return { span: outer, context: active, isOuter: true, step: undefined, isOver: false }
    }
    const remote = this.#spans.extract(request, headersOf)
    const isParent = this.#settings.incoming === 'parent'
    const { span, context } = this.#spans.begin({
      name: nameOf(request),
      kind: api.SpanKind.SERVER,
      // The baggage is left out as well: what clients on the internet put in it would reach every service that this one calls.
      parent: isParent ? remote : api.ROOT_CONTEXT,
      links: isParent ? [] : this.#spans.linksTo(remote),
      attributes: {
        ...methodOf(request.method).attributes,
        'url.path': redactPath(request.path, secretsOf(request.params, isHiddenName)),
        'url.scheme': request.protocol,
        ...(request.route !== undefined && { 'http.route': request.route }),
      },
      more: () => attributesOf(request),
    })
    this.#own.add(span)
    return { span, context, isOuter: false, step: undefined, isOver: false }
  }

  /** Whether an instrumentation made the span for this very request: a server's span, not made here, nor used by another request. */
  #isOfServer(span: Span): boolean {
    return (span as { kind?: unknown }).kind === this.#spans.api.SpanKind.SERVER && !this.#own.has(span)
  }

  #step({ request, name }: StepTrace): void {
    const followed = this.#followed.get(request)
    if (followed === undefined) return
    this.#endStep(followed)
    // The step began after the client had left.
    if (followed.isOver) return
    // The handler has a span of its own, which ends when it does.
    followed.step =
      name === 'handler' ? undefined : this.#spans.begin({ name: `step ${name}`, parent: followed.context }).span
  }

  #end(event: RequestTrace): void {
    const { request, response } = event
    const followed = this.#followed.get(request)
    if (followed === undefined) return
    const { span, isOuter, failure = 'error' in event ? event : undefined } = followed
    followed.isOver = true
    this.#endStep(followed)
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

  #endStep({ step }: Followed): void {
    if (step !== undefined) this.#spans.end(step)
  }
}

const nameOf = ({ method, route }: Request) => {
  const { name } = methodOf(method)
  return route === undefined ? name : `${name} ${route}`
}

function attributesOf(request: Request): Attributes {
  const { ip, raw } = request
  const url = new URL(request.url)
  const { port } = url
  const agent = raw.header('user-agent')
  return {
    'server.address': addressOf(url),
    ...(port !== '' && { 'server.port': Number(port) }),
    'client.address': ip,
    ...(raw.version !== undefined && { 'network.protocol.version': raw.version }),
    ...(agent !== undefined && { 'user_agent.original': agent }),
  }
}
