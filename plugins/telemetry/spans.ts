import { tracingChannel } from 'node:diagnostics_channel'
import type { Attributes, Context, Link, Span, SpanKind } from '@opentelemetry/api'
import { type TraceOutcome, wrapWork } from '../../kernel/index.ts'

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
}

const classOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (typeof code === 'string' && code !== '') return code
  return typeof name === 'string' && name !== '' ? name : '_OTHER'
}

/** The API of OpenTelemetry, as this plugin uses it. */
export class Spans {
  readonly api: Api
  readonly #tracer
  readonly #noSdk

  constructor(api: Api) {
    this.api = api
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

  /** Resolves when the SDK has exported what has ended, as far as it has such a call. */
  async flush(): Promise<void> {
    const { trace, ProxyTracerProvider } = this.api
    const provider = trace.getTracerProvider()
    const sdk = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider
    await (sdk as { forceFlush?(): Promise<void> }).forceFlush?.()
  }

  /** Begins a span; gives it and the context in which it is the active one. */
  begin({ name, kind, parent, links, attributes, more }: Begun): { span: Span; context: Context } {
    const { context, trace } = this.api
    const around = parent ?? context.active()
    const options = {
      ...(kind !== undefined && { kind }),
      ...(attributes && { attributes }),
      links: [...(links ?? [])],
    }
    const span = this.#tracer.startSpan(name, options, around)
    if (more !== undefined && span.isRecording()) span.setAttributes(more())
    return { span, context: trace.setSpan(around, span) }
  }

  fail(span: Span, error: unknown): void {
    if (!span.isRecording()) return
    const message = error instanceof Error ? error.message : String(error)
    span.recordException(error instanceof Error ? error : message)
    span.setAttribute('error.type', classOf(error))
    span.setStatus({ code: this.api.SpanStatusCode.ERROR, message })
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
  follow<Event extends TraceOutcome>({ trace, begin, entered, isFailure }: WorkSpans<Event>): () => void {
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
      span.end()
    }
    const { asyncEnd } = tracingChannel(`framework:${trace}`)
    asyncEnd.subscribe(end)
    return () => {
      unwrap()
      asyncEnd.unsubscribe(end)
    }
  }
}
