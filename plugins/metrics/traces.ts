import { followChannel } from '../shared/development/held-channel.ts'
import type { WorkKind } from '../shared/work/kind.ts'
import type { Metrics } from './service.ts'
import type { Convention } from './text.ts'

interface WorkEvent {
  readonly error?: unknown
}

/** Counts one kind of work of this process from now on; returns a function that ends this. */
export function countWork(metrics: Metrics, kind: WorkKind): () => void {
  const { channel, form, labels = {}, measures = [], help = '' } = kind
  const metric = (kind.metric ?? channel).replace(/\W/g, '_')
  const names = Object.keys(labels)
  const valuesOf = (event: object) =>
    Object.fromEntries(names.map((name) => [name, labels[name]!.of(event as never)])) as never
  const common = { help, labels: names }
  const conventionOf = conventionsOf(kind)
  const started: ((event: never) => void)[] = []
  const ended: ((event: never) => void)[] = []
  for (const { name, type, help, unit, at, of } of measures) {
    const options = { name, help, labels: names, ...(unit !== undefined && { unit }) }
    const put = metrics.workMetric(type, options)
    const measure = (event: never) => {
      const value = of(event)
      if (value !== undefined) put(value, valuesOf(event))
    }
    ;(at === 'start' ? started : ended).push(measure)
  }
  if (form === 'moment') {
    const counter = metrics.workMetric('counter', { name: metric, ...common }, conventionOf())
    return subscribed({ [`framework:${channel}`]: [(event: never) => counter(1, valuesOf(event)), ...ended] })
  }
  const duration = { name: `${metric}_duration_seconds`, unit: 'seconds', ...common, help: `${help}: how long` }
  const observe = metrics.workMetric('histogram', duration, conventionOf('duration'))
  const failures = { name: `${metric}_failures`, ...common, help: `${help}: those that failed` }
  const fail = metrics.workMetric('counter', failures, conventionOf('failures'))
  const since = new WeakMap<WorkEvent, number>()
  const begin = (event: WorkEvent) => void since.set(event, performance.now())
  const end = (event: WorkEvent) => {
    const at = since.get(event)
    if (at !== undefined) observe((performance.now() - at) / 1_000, valuesOf(event), event.error)
  }
  const phase = (name: string) => `tracing:framework:${channel}:${name}`
  return subscribed({
    [phase('start')]: [begin, ...started],
    [phase('asyncEnd')]: [end, ...ended],
    [phase('error')]: [(event: never) => fail(1, valuesOf(event))],
  })
}

/** The names of a kind's metrics in OpenTelemetry. */
function conventionsOf({ channel, metric = channel, labels = {}, duration, request }: WorkKind) {
  const name = `framework.${metric}`
  const common = {
    labels: Object.fromEntries(Object.entries(labels).map(([label, { attribute }]) => [label, attribute])),
    isOfProcess: true,
  }
  return (of?: 'duration' | 'failures'): Convention => {
    if (of === undefined) return { ...common, name, unit: request === undefined ? '{event}' : '{request}' }
    if (of === 'failures') return { ...common, name: `${name}.failures`, unit: '{failure}' }
    return { ...common, name: `${name}.duration`, ...duration, unit: 's' } as Convention
  }
}

function subscribed(listeners: { readonly [channel: string]: readonly ((event: never) => void)[] }): () => void {
  const ends = Object.entries(listeners).flatMap(([name, ones]) => ones.map((one) => followChannel(name, one)))
  return () => {
    for (const end of ends) end()
  }
}
