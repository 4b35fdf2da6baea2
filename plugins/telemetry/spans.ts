import type {
  Attributes,
  Context,
  Link,
  Span,
  SpanContext,
  SpanKind,
  TextMapGetter,
  TextMapSetter,
} from '@opentelemetry/api'
import type { Logger, TraceOutcome } from '../../kernel/index.ts'
import { followChannel, together } from '../shared/development/held-channel.ts'
import { errorType, methodAttribute, type OpenTelemetryApi } from '../shared/development/open-telemetry.ts'
import { hideInText } from '../shared/values/marked.ts'
import { cutText, redactText } from '../shared/values/redact-text.ts'
import { safely } from '../shared/values/safely.ts'
import { currentTenant } from '../shared/values/tenants.ts'
import { wrapWork } from '../shared/work/wrap-work.ts'

/** The attribute with the id of the tenant whose work a span is. */
export const tenantAttribute = 'framework.tenant.id'

/** The key of contexts whose route is left out. */
export const isQuiet = Symbol('telemetry: false')

/** The span with which the work of an event begins. */
export interface Begun {
  readonly name: string
  readonly kind?: SpanKind | undefined
  /** What the span belongs to; default: the work in which it begins. */
  readonly parent?: Context
  readonly links?: Link[]
  /** The attributes that samplers can look at. */
  readonly attributes?: Attributes
  /** Returns the other attributes; called only for a span that is recorded. */
  readonly more?: (() => Attributes) | undefined
}

/** Describes how one kind of work becomes spans. */
export interface WorkSpans<Event extends TraceOutcome> {
  readonly trace: string
  begin(event: Event): Begun | undefined
  /** Called when the span exists and the work has not begun yet. */
  entered?(event: Event, context: Context): void
  /** Whether the error of the work is a failure; default: every error is. */
  isFailure?(event: Event): boolean
  /** Returns attributes that are known when the work is done; called only for a span that is recorded. */
  ended?(event: Event): Attributes
}

/** The maximum number of characters of a message or a stack, parts of which a client may have written. */
const maxText = 16_384
const shown = (text: string) => redactText(cutText(hideInText(text), maxText))

/** What an exception event says about a thrown value, which may be anything: an object with getters that throw, for example. */
function exceptionOf(thrown: unknown): { name: string; message: string; stack?: string } {
  const read = () => {
    const name = errorType(thrown) ?? '_OTHER'
    if (!(thrown instanceof Error)) return { name, message: shown(String(thrown)) }
    const { message, stack } = thrown
    return { name, message: shown(String(message)), ...(typeof stack === 'string' && { stack: shown(stack) }) }
  }
  return safely(read, { name: '_OTHER', message: 'the thrown value cannot be read' })
}

/** The name of a span and its attributes for a method. */
export const methodOf = (method: string): { name: string; attributes: Attributes } =>
  methodAttribute(method) === method
    ? { name: method, attributes: { 'http.request.method': method } }
    : { name: 'HTTP', attributes: { 'http.request.method': '_OTHER', 'http.request.method_original': method } }

/** The host of an address in the form of the conventions: IPv6 without brackets. */
export const addressOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Makes spans through the OpenTelemetry API. */
export class Spans {
  readonly api: OpenTelemetryApi
  readonly #tracer
  readonly #noSdk
  readonly #log: Logger
  #hasFailed = false

  constructor(api: OpenTelemetryApi, log: Logger) {
    this.api = api
    this.#log = log
    // This tracer forwards to the application's SDK, whenever that is registered.
    this.#tracer = api.trace.getTracer('framework')
    this.#noSdk = new api.ProxyTracerProvider().getDelegate()
  }

  /** The application's provider of tracers, or the API's own, which does nothing. */
  get sdk(): object {
    const { trace, ProxyTracerProvider } = this.api
    const provider = trace.getTracerProvider()
    return provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider
  }

  /** Whether an SDK is registered that processes spans. */
  get hasSdk(): boolean {
    return this.sdk !== this.#noSdk
  }

  /**
   * Calls into the SDK, which runs code of the application: samplers, processors, propagators. Its errors must not fail the work that is
   * followed, and thrown in a channel's subscriber they would end the process. Only the first is logged, as every span may cause one.
   */
  attempt<Result>(call: () => Result): Result | undefined {
    try {
      return call()
    } catch (error) {
      if (!this.#hasFailed) {
        this.#hasFailed = true
        const what =
          'telemetry: the SDK of OpenTelemetry has thrown, so spans are missing; further failures are not logged'
        this.#log.warn({ err: error }, what)
      }
      return undefined
    }
  }

  /** Begins a span; returns it and the context in which it is active. If the SDK fails, the span records nothing. */
  begin({ name, kind, parent, links, attributes, more }: Begun): { span: Span; context: Context } {
    const { context, trace } = this.api
    const around = parent ?? context.active()
    let span: Span | undefined
    // Nothing else is computed for a span that is not recorded.
    this.attempt(() => {
      span = this.#tracer.startSpan(name, { kind, attributes, links }, around)
      if (!span.isRecording()) return
      if (more !== undefined) span.setAttributes(more())
      const tenant = currentTenant()
      if (tenant !== undefined) span.setAttribute(tenantAttribute, tenant.id)
    })
    if (span === undefined) return { span: trace.wrapSpanContext(this.api.INVALID_SPAN_CONTEXT), context: around }
    return { span, context: trace.setSpan(around, span) }
  }

  end(span: Span | undefined): void {
    this.attempt(() => span?.end())
  }

  /** Ends the span of an exchange; its status is an error from `failsFrom` on. */
  endWith(span: Span, status: number, failsFrom: number): void {
    this.attempt(() => {
      span.setAttribute('http.response.status_code', status)
      if (status < failsFrom) return
      span.setAttribute('error.type', String(status))
      span.setStatus({ code: this.api.SpanStatusCode.ERROR })
    })
    this.end(span)
  }

  fail(span: Span, error: unknown): void {
    this.attempt(() => {
      if (!span.isRecording()) return
      const exception = exceptionOf(error)
      span.recordException(exception)
      span.setAttribute('error.type', exception.name)
      span.setStatus({ code: this.api.SpanStatusCode.ERROR, message: exception.message })
    })
  }

  /** The context in headers or a carrier; the root if they cannot be read. */
  extract<Carrier>(carrier: Carrier, getter?: TextMapGetter<Carrier>, root = this.api.ROOT_CONTEXT): Context {
    return this.attempt(() => this.api.propagation.extract(root, carrier, getter)) ?? root
  }

  inject<Carrier>(context: Context, carrier: Carrier, setter?: TextMapSetter<Carrier>): void {
    this.attempt(() => this.api.propagation.inject(context, carrier, setter))
  }

  /** The ids of a span, unless it is one that only stands for a missing span. */
  contextOf(span: Span | undefined): SpanContext | undefined {
    const found = span?.spanContext()
    return found !== undefined && this.api.isSpanContextValid(found) ? found : undefined
  }

  linksTo(context: Context): Link[] {
    const found = this.contextOf(this.api.trace.getSpan(context))
    return found === undefined ? [] : [{ context: found }]
  }

  /** Whether there is a span that is not recorded, and whose children, by its flags, are not either. */
  #isUnsampled(span: Span | undefined): boolean {
    const found = this.contextOf(span)
    return found !== undefined && !span!.isRecording() && (found.traceFlags & this.api.TraceFlags.SAMPLED) === 0
  }

  /** Makes spans of one kind of work from now on; returns a function that ends this. */
  follow<Event extends TraceOutcome>({ trace, begin, entered, isFailure, ended }: WorkSpans<Event>): () => void {
    // In the event itself: a `WeakMap` takes longer than beginning the span, and makes each collection of garbage longer.
    const own = Symbol(trace)
    type Spanned = Event & { [own]?: Span }
    const unwrap = wrapWork<Event>(trace, (event, work) => {
      // Checked each time, because an application may register its SDK late.
      const begun = this.hasSdk ? begin(event) : undefined
      if (begun === undefined) return work()
      const { span, context } = this.begin(begun)
      entered?.(event, context)
      // An unrecorded span within an unrecorded one: entering it would change nothing.
      if (begun.parent === undefined && this.#isUnsampled(span) && this.#isUnsampled(this.api.trace.getActiveSpan()))
        return work()
      ;(event as Spanned)[own] = span
      this.api.context.with(context, work)
    })
    const unfollow = followChannel(`tracing:framework:${trace}:asyncEnd`, (event: Spanned) => {
      const span = event[own]
      if (span === undefined) return
      if ('error' in event && isFailure?.(event) !== false) this.fail(span, event.error)
      if (ended !== undefined) this.attempt(() => span.isRecording() && span.setAttributes(ended(event)))
      this.end(span)
    })
    return together([unwrap, unfollow])
  }
}
