import type { Attributes, Context, Link, Span, SpanKind, TextMapGetter, TextMapSetter } from '@opentelemetry/api'
import { type Logger, type TraceOutcome, wrapWork } from '../../kernel/index.ts'
import { censorText } from '../toolkit/censor.ts'
import { heldChannel } from '../toolkit/held-channel.ts'

export type Api = typeof import('@opentelemetry/api')

/** How the work of an event begins as a span. */
export interface Begun {
  readonly name: string
  readonly kind?: SpanKind
  /** What it belongs to; default: the work it is begun in. */
  readonly parent?: Context
  readonly links?: readonly Link[]
  /** What samplers may look at. */
  readonly attributes?: Attributes
  /** The others, worked out only for a span that is recorded. */
  readonly more?: () => Attributes
}

/** What makes spans of one kind of work. */
export interface WorkSpans<Event extends TraceOutcome> {
  readonly trace: string
  begin(event: Event): Begun | undefined
  /** The span is there, and the work has not begun. */
  entered?(event: Event, context: Context): void
  /** Whether an error of the work is a failure; default: each is. */
  isFailure?(error: unknown): boolean
  /** What is known when the work is done; asked for a span that is recorded. */
  ended?(event: Event): Attributes
}

const classOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (typeof code === 'string' && code !== '') return code
  return typeof name === 'string' && name !== '' ? name : '_OTHER'
}

/** Characters of a message or a stack: a client may have written a part of it. */
const mostText = 16_384
const shown = (text: string) => censorText(text.slice(0, mostText))

/** The host of an address as the conventions have it: IPv6 without brackets. */
export const addressOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** The API of OpenTelemetry, as this plugin uses it. */
export class Spans {
  readonly api: Api
  readonly #tracer
  readonly #noSdk
  readonly #log: Logger
  #hasFailed = false

  constructor(api: Api, log: Logger) {
    this.api = api
    this.#log = log
    // It hands on to the SDK of the application, whenever that is registered.
    this.#tracer = api.trace.getTracer('framework')
    this.#noSdk = new api.ProxyTracerProvider().getDelegate()
  }

  /** Whether an SDK is there that makes anything of spans. */
  get hasSdk(): boolean {
    const { trace, ProxyTracerProvider } = this.api
    const provider = trace.getTracerProvider()
    return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== this.#noSdk
  }

  /**
   * Calls into the SDK, which runs code of the application: samplers, processors, propagators. What that throws must not fail the work that is
   * followed; and thrown by a subscriber of a channel it would end the process. The first failure is logged, for there may be one for each span.
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

  /** Resolves when the SDK has exported what has ended, as far as it has such a call. */
  async flush(): Promise<void> {
    const { trace, ProxyTracerProvider } = this.api
    const provider = trace.getTracerProvider()
    const sdk = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider
    await (sdk as { forceFlush?(): Promise<void> }).forceFlush?.()
  }

  /** Begins a span; gives it and the context in which it is the active one. Where the SDK fails it is one that records nothing. */
  begin({ name, kind, parent, links, attributes, more }: Begun): { span: Span; context: Context } {
    const { context, trace } = this.api
    const around = parent ?? context.active()
    const options = {
      ...(kind !== undefined && { kind }),
      ...(attributes && { attributes }),
      links: [...(links ?? [])],
    }
    const span = this.attempt(() => this.#tracer.startSpan(name, options, around))
    if (span === undefined) return { span: trace.wrapSpanContext(this.api.INVALID_SPAN_CONTEXT), context: around }
    if (more !== undefined) this.attempt(() => span.isRecording() && span.setAttributes(more()))
    return { span, context: trace.setSpan(around, span) }
  }

  end(span: Span): void {
    this.attempt(() => span.end())
  }

  fail(span: Span, error: unknown): void {
    this.attempt(() => {
      if (!span.isRecording()) return
      const type = classOf(error)
      const message = shown(error instanceof Error ? error.message : String(error))
      const { stack } = error instanceof Error ? error : {}
      const ofError = { name: type, message, ...(stack !== undefined && { stack: shown(stack) }) }
      span.recordException(error instanceof Error ? ofError : message)
      span.setAttribute('error.type', type)
      span.setStatus({ code: this.api.SpanStatusCode.ERROR, message })
    })
  }

  /** The context that headers or a carrier bring; that of nothing where they cannot be read. */
  extract<Carrier>(carrier: Carrier, getter?: TextMapGetter<Carrier>): Context {
    const { propagation, ROOT_CONTEXT } = this.api
    return this.attempt(() => propagation.extract(ROOT_CONTEXT, carrier, getter)) ?? ROOT_CONTEXT
  }

  inject<Carrier>(context: Context, carrier: Carrier, setter?: TextMapSetter<Carrier>): void {
    this.attempt(() => this.api.propagation.inject(context, carrier, setter))
  }

  /** The root of a trace of its own; the link to where it was begun, if that has a span. */
  apart(): { parent: Context; links: Link[] } {
    const { ROOT_CONTEXT, context } = this.api
    return { parent: ROOT_CONTEXT, links: this.linksTo(context.active()) }
  }

  linksTo(context: Context): Link[] {
    const found = this.api.trace.getSpanContext(context)
    return found === undefined || !this.api.isSpanContextValid(found) ? [] : [{ context: found }]
  }

  /** Makes spans of one kind of work from now on; gives what ends it. */
  follow<Event extends TraceOutcome>({ trace, begin, entered, isFailure, ended }: WorkSpans<Event>): () => void {
    const spans = new WeakMap<Event, Span>()
    const unwrap = wrapWork<Event>(trace, (event, work) => {
      // Asked each time: an application may register its SDK late.
      const begun = this.hasSdk ? begin(event) : undefined
      if (begun === undefined) return work()
      const { span, context } = this.begin(begun)
      spans.set(event, span)
      entered?.(event, context)
      this.api.context.with(context, work)
    })
    const end = (given: unknown) => {
      const event = given as Event
      const span = spans.get(event)
      if (span === undefined) return
      if ('error' in event && isFailure?.(event.error) !== false) this.fail(span, event.error)
      if (ended !== undefined) this.attempt(() => span.isRecording() && span.setAttributes(ended(event)))
      this.end(span)
    }
    const asyncEnd = heldChannel(`tracing:framework:${trace}:asyncEnd`)
    asyncEnd.subscribe(end)
    return () => {
      unwrap()
      asyncEnd.unsubscribe(end)
    }
  }
}
