import { systemClock } from '../../kernel/index.ts'
import { followChannel, together } from '../shared/development/held-channel.ts'
import type { WorkKind } from '../shared/work/kind.ts'
import type { Metrics } from './service.ts'
import type { Convention } from './text.ts'

interface WorkEvent {
  readonly error?: unknown
}

/** Counts one kind of work of this process from now on; returns a function that ends this. */
export function countWork(metrics: Metrics, kind: WorkKind): () => void {
  const { channel, form, labels: labelled = {}, measures = [], help = '', duration, request } = kind
  const labels = Object.keys(labelled)
  const valuesOf = (event: object) =>
    Object.fromEntries(labels.map((name) => [name, labelled[name]!.of(event as never)])) as never
  const name = (kind.metric ?? channel).replace(/\W/g, '_')
  /** The names in OpenTelemetry. */
  const convention = (ending: string, unit: string): Convention => ({
    name: `framework.${kind.metric ?? channel}${ending}`,
    unit,
    labels: Object.fromEntries(Object.entries(labelled).map(([label, { attribute }]) => [label, attribute])),
    isOfProcess: true,
  })
  const phase = (of: string) => (form === 'moment' ? `framework:${channel}` : `tracing:framework:${channel}:${of}`)
  const ends = measures.map(({ type, at, of, ...options }) => {
    const put = metrics.workMetric(type, { ...options, labels })
    return followChannel(phase(at === 'start' ? 'start' : 'asyncEnd'), (event: never) => {
      const value = of(event)
      if (value !== undefined) put(value, valuesOf(event))
    })
  })
  if (form === 'moment') {
    const unit = request === undefined ? '{event}' : '{request}'
    const count = metrics.workMetric('counter', { name, help, labels, convention: convention('', unit) })
    return together([...ends, followChannel(phase('end'), (event: never) => count(1, valuesOf(event)))])
  }
  const observe = metrics.workMetric('histogram', {
    ...{ name: `${name}_duration_seconds`, unit: 'seconds', help: `${help}: how long`, labels },
    convention: { ...convention('.duration', 's'), ...duration } as Convention,
  })
  const fail = metrics.workMetric('counter', {
    ...{ name: `${name}_failures`, help: `${help}: those that failed`, labels },
    convention: convention('.failures', '{failure}'),
  })
  const since = new WeakMap<WorkEvent, number>()
  return together([
    ...ends,
    followChannel(phase('start'), (event: WorkEvent) => void since.set(event, systemClock.monotonic())),
    followChannel(phase('asyncEnd'), (event: WorkEvent) => {
      const at = since.get(event)
      if (at !== undefined) observe((systemClock.monotonic() - at) / 1_000, valuesOf(event), event.error)
    }),
    followChannel(phase('error'), (event: WorkEvent) => fail(1, valuesOf(event))),
  ])
}
