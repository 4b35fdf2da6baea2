import { context, propagation, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type TracerConfig,
} from '@opentelemetry/sdk-trace-node'

/** Registers an SDK of this process that keeps each span that has ended. */
export function keepSpans(config: TracerConfig = {}) {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ ...config, spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  return {
    provider,
    get all() {
      return exporter.getFinishedSpans()
    },
    /** The first of that name. */
    named: (name: string): ReadableSpan => {
      const found = exporter.getFinishedSpans().find((span) => span.name === name)
      if (found === undefined)
        throw new Error(`no span "${name}", but ${exporter.getFinishedSpans().map((span) => span.name)}`)
      return found
    },
    reset: () => exporter.reset(),
    end() {
      void provider.shutdown()
      trace.disable()
      context.disable()
      propagation.disable()
    },
  }
}

/** The members of a span that show its place. */
export interface PlacedSpan {
  readonly name: string
  readonly traceId: string
  readonly id: string
  readonly parent: string | undefined
  readonly start: number
  readonly failed: boolean
}

export const placed = (span: ReadableSpan): PlacedSpan => ({
  name: span.name,
  traceId: span.spanContext().traceId,
  id: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId,
  start: span.startTime[0] * 1e9 + span.startTime[1],
  failed: span.status.code === 2,
})

/** The tree of the spans as indented lines, in the order in which they began; a failed one has a `!`. */
export function treeOf(spans: readonly PlacedSpan[]): string[] {
  const ids = new Set(spans.map(({ id }) => id))
  const under = (parent: PlacedSpan | undefined, depth: number): string[] =>
    spans
      .filter((one) =>
        parent === undefined ? one.parent === undefined || !ids.has(one.parent) : one.parent === parent.id,
      )
      .sort((a, b) => a.start - b.start)
      .flatMap((one) => [`${'  '.repeat(depth)}${one.name}${one.failed ? ' !' : ''}`, ...under(one, depth + 1)])
  return under(undefined, 0)
}
