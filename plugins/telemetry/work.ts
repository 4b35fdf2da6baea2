import type { Attributes, Context, Link, SpanKind } from '@opentelemetry/api'
import type { PluginTrace, TraceOutcome } from '../../kernel/index.ts'
import { followChannel, together } from '../shared/development/held-channel.ts'
import { defined } from '../shared/values/json.ts'
import type { Carrier } from '../shared/work/carrier.ts'
import { labelAttributes, type WorkKind } from '../shared/work/kind.ts'
import { wrapWork } from '../shared/work/wrap-work.ts'
import type { TelemetrySettings } from './options.ts'
import { type Begun, isQuiet, type Spans } from './spans.ts'

/** An event of any kind of work; those of messages have a carrier. */
interface WorkEvent extends TraceOutcome {
  readonly carrier?: Carrier
}

/** Makes spans of one kind of work of this process from now on; returns a function that ends this. */
export function followWork(spans: Spans, settings: TelemetrySettings, kind: WorkKind): () => void {
  if (kind.form === 'moment') return followMoment(spans, kind)
  const { channel: trace, role, ended, attributes } = kind
  const { SpanKind } = spans.api
  const kinds: { readonly [Role in NonNullable<WorkKind['role']>]: SpanKind } = {
    publish: SpanKind.PRODUCER,
    process: SpanKind.CONSUMER,
    call: SpanKind.CLIENT,
  }
  return spans.follow<WorkEvent>({
    trace,
    begin: (event) => ({
      name: kind.span(event as never),
      kind: role && kinds[role],
      ...originOf(spans, settings, kind, event),
      attributes: labelAttributes(kind, event) as Attributes,
      more: attributes && (() => attributes(event as never) as Attributes),
    }),
    ...(role === 'publish' && {
      entered: ({ carrier }: WorkEvent, context: Context) => carrier && spans.inject(context, carrier),
    }),
    ...(ended && { ended: (event: WorkEvent) => ended(event as never) as Attributes }),
  })
}

/** The links to the work in which connections were opened. */
const opened = new WeakMap<object, Link[]>()
/** The contexts of connections whose route is left out: what is done for them runs in these. */
const quiet = new WeakMap<object, Context>()

/** What the work belongs to, if that is not the running work. */
function originOf(spans: Spans, settings: TelemetrySettings, kind: WorkKind, event: WorkEvent): Partial<Begun> {
  const { api } = spans
  if (kind.isRoot) {
    const connection = kind.connection?.(event as never)
    if (connection !== undefined && quiet.has(connection)) return {}
    return { parent: api.ROOT_CONTEXT, ...(connection && { links: opened.get(connection) ?? [] }) }
  }
  if (kind.role !== 'process' || event.carrier === undefined) return {}
  // A message belongs to its publisher, whatever the worker itself is doing.
  const sent = spans.extract(event.carrier)
  // The baggage is kept in either case.
  const parent = settings.messages === 'parent' ? sent : api.trace.deleteSpan(sent)
  return { parent, links: spans.linksTo(sent) }
}

/** Adds an event to the running span at each notable moment. */
function followMoment(spans: Spans, kind: WorkKind): () => void {
  const { context } = spans.api
  const ends: (() => void)[] = []
  const enter = (event: object, work: () => void) =>
    context.with(quiet.get(kind.connection!(event as never)) ?? context.active(), work)
  const unfollow = followChannel(`framework:${kind.channel}`, (event) => {
    const connection = kind.connection?.(event as never)
    if (connection !== undefined) {
      const active = context.active()
      opened.set(connection, spans.linksTo(active))
      if (active.getValue(isQuiet) === true && kind.handlers !== undefined) {
        quiet.set(connection, active)
        // Without such a connection, no message pays for it.
        if (ends.length === 0) ends.push(wrapWork(kind.handlers, enter))
      }
    }
    if (kind.isNotable?.(event as never) === false) return
    const attributes = { ...labelAttributes(kind, event as object), ...kind.attributes?.(event as never) }
    spans.attempt(() => spans.api.trace.getActiveSpan()?.addEvent(kind.span(event as never), defined(attributes)))
  })
  return () => together([unfollow, ...ends])()
}

/** Makes spans of the phases of plugins from now on; returns a function that ends this. */
export const followPlugins = (spans: Spans): (() => void) =>
  spans.follow<PluginTrace>({
    trace: 'plugin',
    begin: ({ plugin, scope, phase }) => ({
      name: `plugin ${plugin} ${phase}`,
      more: () => ({ 'framework.plugin.scope': scope }),
    }),
  })
