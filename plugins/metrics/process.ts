import { readdir } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { systemClock } from '../../kernel/index.ts'
import { followChannel, together } from '../shared/development/held-channel.ts'
import { watchLoopDelay } from '../shared/development/loop-delay.ts'
import { type Figure, type FigureSample, figure } from '../shared/development/metrics.ts'
import type { WorkKind } from '../shared/work/kind.ts'
import type { Metrics } from './service.ts'
import type { Convention, Family } from './text.ts'

/** Counts the figures of the process; returns a function that ends the counting. */
export function countProcess(metrics: Metrics): () => void {
  const delay = watchLoopDelay()
  metrics.collect(async () => {
    const { user, system } = process.cpuUsage()
    const memory = process.memoryUsage()
    const { count, sum } = delay.total()
    const families: Family[] = [
      own('counter', 'process_cpu_seconds', 'CPU time', [
        { labels: { mode: 'user' }, value: user / 1e6 },
        { labels: { mode: 'system' }, value: system / 1e6 },
      ]),
      own('gauge', 'process_start_time_seconds', 'When the process began, since 1970', performance.timeOrigin / 1_000),
      own('gauge', 'process_resident_memory_bytes', 'Resident memory', memory.rss),
      own('gauge', 'process_heap_used_bytes', 'Heap in use', memory.heapUsed),
      own(
        'gauge',
        'process_external_memory_bytes',
        'Memory outside of the heap that the heap refers to',
        memory.external,
      ),
      {
        name: 'process_event_loop_delay_seconds',
        type: 'summary',
        unit: 'seconds',
        help: 'How late the event loop was, looked at every 20 ms',
        samples: [
          { suffix: '_count', value: count },
          { suffix: '_sum', value: sum / 1_000 },
        ],
      },
    ]
    // Bun's statistics report a limit that does not exist.
    if (!('Bun' in globalThis))
      families.push(
        own('gauge', 'process_heap_limit_bytes', 'Maximum size of the heap', getHeapStatistics().heap_size_limit),
      )
    const { active, idle } = performance.eventLoopUtilization()
    // Bun and Deno have the function, but no figures.
    if (active + idle > 0) {
      families.push(
        own('counter', 'process_event_loop_seconds', 'Time that the event loop was active and idle', [
          { labels: { state: 'active' }, value: active / 1_000 },
          { labels: { state: 'idle' }, value: idle / 1_000 },
        ]),
      )
    }
    // Linux lists them in a folder; one of them belongs to this very read.
    const { length } = await readdir('/proc/self/fd').catch(() => [])
    if (length > 0) families.push(own('gauge', 'process_open_fds', 'Open descriptors', length - 1))
    return families
  })
  return () => delay.stop()
}

const own = (type: Figure['type'], name: string, help: string, value: number | readonly FigureSample[]): Family => ({
  ...figure(type, name, help, value),
  unit: ['seconds', 'bytes'].find((unit) => name.endsWith(`_${unit}`)),
})

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
