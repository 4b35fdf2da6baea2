import type { Attributes, BatchObservableResult, Histogram, Meter, Observable } from '@opentelemetry/api'
import type { Kernel, Request, RequestTrace } from '../../kernel/index.ts'
import { followChannel } from '../shared/development/held-channel.ts'
import { errorType, methodAttribute, type OpenTelemetryApi } from '../shared/development/open-telemetry.ts'
import { isOwnRequest } from '../shared/development/own-requests.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { attributeValue } from '../shared/work/kind.ts'
import { whenOver } from '../shared/work/wrap-work.ts'
import type { Recorder } from './instruments.ts'
import { type Metrics, merged } from './service.ts'
import type { Convention, Family, Sample } from './text.ts'

const sum = { isSum: true } as const
const ofProcess = { isOfProcess: true } as const

const job = { job: 'framework.cron.job' }
const queue = {
  queue: 'messaging.destination.name',
  kind: 'messaging.system',
  state: 'framework.queue.state',
}
const outcome = { outcome: 'framework.outcome' }

/**
 * The semantic conventions of OpenTelemetry, and `framework.…` for metrics that they do not name.
 * https://opentelemetry.io/docs/specs/semconv/
 */
export const conventions: { readonly [family: string]: Convention } = {
  http_request_duration_seconds: { name: 'http.server.request.duration', unit: 's' },
  http_request_body_size_bytes: { name: 'http.server.request.body.size', unit: 'By' },
  http_response_body_size_bytes: { name: 'http.server.response.body.size', unit: 'By' },
  http_requests_in_flight: {
    name: 'http.server.active_requests',
    unit: '{request}',
    labels: { method: 'http.request.method', scheme: 'url.scheme' },
    ...sum,
  },
  process_cpu_seconds: { name: 'process.cpu.time', unit: 's', labels: { mode: 'cpu.mode' }, ...ofProcess },
  process_resident_memory_bytes: { name: 'process.memory.usage', unit: 'By', ...sum, ...ofProcess },
  // The convention has one value for each space of V8's heap; this is the whole heap, on every runtime.
  process_heap_used_bytes: { name: 'framework.process.heap.used', unit: 'By', ...sum, ...ofProcess },
  process_heap_limit_bytes: { name: 'framework.process.heap.limit', unit: 'By', ...sum, ...ofProcess },
  process_external_memory_bytes: { name: 'framework.process.external_memory', unit: 'By', ...sum, ...ofProcess },
  process_event_loop_delay_seconds: { name: 'nodejs.eventloop.delay.mean', unit: 's', ...ofProcess },
  process_event_loop_seconds: {
    name: 'nodejs.eventloop.time',
    unit: 's',
    labels: { state: 'nodejs.eventloop.state' },
    ...ofProcess,
  },
  process_open_fds: { name: 'process.unix.file_descriptor.count', unit: '{file_descriptor}', ...sum, ...ofProcess },
  process_start_time_seconds: { name: 'framework.process.start_time', unit: 's', ...ofProcess },
  queue_messages: { name: 'framework.queue.messages', unit: '{message}', labels: queue },
  queue_oldest_message_seconds: { name: 'framework.queue.oldest_message', unit: 's', labels: queue },
  cron_lateness_seconds: { name: 'framework.cron.lateness', unit: 's', labels: job, ...ofProcess },
  cron_last_success_timestamp_seconds: { name: 'framework.cron.last_success', unit: 's', labels: job, ...ofProcess },
  cron_running: { name: 'framework.cron.running', unit: '{run}', labels: job },
  cron_ticks: { name: 'framework.cron.ticks', unit: '{tick}', labels: { ...job, ...outcome } },
  locks_held: { name: 'framework.locks.held', unit: '{lock}', ...sum },
  locks_waiting: { name: 'framework.locks.waiting', unit: '{caller}', ...sum },
  lock_outcomes: { name: 'framework.lock.outcomes', unit: '{call}', labels: outcome },
  lock_wait_seconds: { name: 'framework.lock.wait', unit: 's', ...ofProcess },
  websocket_open: { name: 'framework.websocket.open', unit: '{websocket}', ...sum },
  websocket_opened: { name: 'framework.websocket.opened', unit: '{websocket}', labels: outcome },
  websocket_messages: { name: 'framework.websocket.messages', unit: '{message}', labels: outcome },
  upload_files: { name: 'framework.upload.files', unit: '{file}', ...ofProcess },
  upload_bytes: { name: 'framework.upload.size', unit: 'By', ...ofProcess },
  overload_refused: { name: 'framework.overload.refused', unit: '{request}' },
  overload_share: { name: 'framework.overload.share', unit: '1' },
}

/** The framework's own metrics of requests and of the process, whose names are taken even before the boot. */
export const ownFamilies = Object.keys(conventions).filter((name) => /^(?:http|process)_/.test(name))

const units: { readonly [unit: string]: string } = { seconds: 's', bytes: 'By' }

/** Metrics of the application and of its plugins keep their names: none contains a dot, so none collides with the above. */
export const conventionOf = ({
  name,
  unit = '',
  convention,
}: Pick<Family, 'name' | 'unit' | 'convention'>): Convention =>
  convention ?? conventions[name] ?? { name, unit: units[unit] ?? unit }

function attributesOf(
  { labels: names = {}, attributes }: Convention,
  labels: { readonly [label: string]: string } = {},
): Attributes {
  const own = Object.entries(labels).map(([label, value]) => {
    const name = names[label] ?? label
    return [name, attributeValue(name, value)]
  })
  return { ...attributes, ...Object.fromEntries(own) }
}

/** Whether the application has registered an SDK for metrics: the API shows it only by not returning its default. */
export const hasMeterProvider = ({ metrics, createNoopMeter }: OpenTelemetryApi): boolean =>
  metrics.getMeterProvider().getMeter('framework') !== createNoopMeter()

/** How many error classes become attributes; further ones become `_OTHER`, the fallback of the conventions. */
const maxErrorTypes = 100

/** A single export for the process: two servers with their own callbacks would overwrite the same series. */
let exported: Export | undefined

/** Exports the metrics of a server through the global SDK from now on; returns a function that ends the export. */
export function exportMetrics(api: OpenTelemetryApi, metrics: Metrics, server: Kernel): () => void {
  exported ??= new Export(api.metrics.getMeter('framework'))
  const mine = exported
  mine.add(metrics, server)
  return () => {
    if (mine.remove(metrics) === 0) exported = undefined
  }
}

/** Requests in progress, by method and scheme. Uses the channel of requests, which reports the end of each exactly once. */
function activeRequests(isOfServers: (server: Request['server']) => boolean) {
  const counts = new Map<string, { readonly labels: { method: string; scheme: string }; value: number }>()
  return {
    stop: followChannel('tracing:framework:request:start', (event: RequestTrace) => {
      const { request } = event
      if (!isOfServers(request.server) || isOwnRequest(request)) return
      const labels = { method: methodAttribute(request.method), scheme: request.protocol }
      const count = madeIn(counts, `${labels.method} ${labels.scheme}`, () => ({ labels, value: 0 }))
      count.value++
      whenOver(event, () => count.value--)
    }),
    /** All series, including those at 0: a series that is left out would keep its last value. */
    samples: (): Sample[] => [...counts.values()].map(({ labels, value }) => ({ labels, value })),
  }
}

/** Counters and gauges are read when the SDK collects, so counting costs nothing extra; histograms are recorded as they are observed. */
class Export {
  readonly #active = activeRequests((server) => [...this.#servers.values()].includes(server as Kernel))
  readonly #meter: Meter
  readonly #servers = new Map<Metrics, Kernel>()
  readonly #observables = new Map<string, Observable>()
  readonly #histograms = new Map<string, Histogram>()
  readonly #errorTypes = new Set<string>()
  #followed: Observable[] = []
  #delay = { count: 0, sum: 0 }

  constructor(meter: Meter) {
    this.#meter = meter
  }

  add(metrics: Metrics, server: Kernel): void {
    this.#servers.set(metrics, server)
    metrics.recordTo({
      histogram: (family, buckets) => this.#recorder(metrics, family, buckets),
      request: this.#requestRecorder(metrics),
      // The SDK calls a callback only for instruments that it knew before the collection.
      added: (families) => this.#follow(families),
    })
    // The figures of plugins are known only once they have been collected, which must not delay the start.
    void metrics.families().then(
      (families) => this.#servers.has(metrics) && this.#follow(families),
      () => {},
    )
  }

  /** Returns how many servers are left. */
  remove(metrics: Metrics): number {
    metrics.recordTo(undefined)
    this.#servers.delete(metrics)
    if (this.#servers.size === 0) {
      this.#active.stop()
      this.#meter.removeBatchObservableCallback(this.#observe, this.#followed)
    }
    return this.#servers.size
  }

  #histogram({ name, unit }: Convention, description: string, buckets?: readonly number[]): Histogram {
    return madeIn(this.#histograms, name, () => {
      const advice = buckets && { advice: { explicitBucketBoundaries: [...buckets] } }
      return this.#meter.createHistogram(name, { unit, description, ...advice })
    })
  }

  #recorder(metrics: Metrics, family: Pick<Family, 'name' | 'unit' | 'help'>, buckets: readonly number[]): Recorder {
    const convention = conventionOf(family)
    const histogram = this.#histogram(convention, family.help, buckets)
    // The labels of a series are always the same object, so this is done once for each.
    const known = new WeakMap<object, Attributes>()
    return (value, labels, error) => {
      if (convention.isOfProcess && this.#servers.keys().next().value !== metrics) return
      // The API does not allow values below 0 in a histogram, and the SDK would warn about each.
      if (value < 0) return
      const attributes = madeIn(known, labels, () => attributesOf(convention, labels))
      histogram.record(value, error === undefined ? attributes : { ...attributes, 'error.type': this.#typeOf(error) })
    }
  }

  #typeOf(error: unknown): string {
    const type = errorType(error)
    if (type === undefined || (!this.#errorTypes.has(type) && this.#errorTypes.size >= maxErrorTypes)) return '_OTHER'
    this.#errorTypes.add(type)
    return type
  }

  #requestRecorder({ requestBuckets }: Metrics) {
    const sizes = [0, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]
    const made = (family: string, description: string, buckets: readonly number[] | undefined) =>
      this.#histogram(conventions[family]!, description, buckets)
    const durations = made('http_request_duration_seconds', 'Duration of HTTP server requests', requestBuckets)
    const received = made('http_request_body_size_bytes', 'Declared size of request bodies', sizes)
    const sent = made('http_response_body_size_bytes', 'Size of response bodies', sizes)
    return (attributes: Attributes, seconds: number, bytesIn: number | undefined, bytesOut: number | undefined) => {
      durations.record(seconds, attributes)
      if (bytesIn !== undefined) received.record(bytesIn, attributes)
      if (bytesOut !== undefined) sent.record(bytesOut, attributes)
    }
  }

  #follow(families: readonly Pick<Family, 'name' | 'type' | 'unit' | 'help'>[]): void {
    const before = this.#followed
    for (const family of families) {
      const { name, unit, isSum } = conventionOf(family)
      if (this.#observables.has(name) || !isObserved(family)) continue
      const options = { unit, description: family.help }
      const made =
        family.type === 'counter'
          ? this.#meter.createObservableCounter(name, options)
          : isSum
            ? this.#meter.createObservableUpDownCounter(name, options)
            : this.#meter.createObservableGauge(name, options)
      this.#observables.set(name, made)
    }
    if (this.#observables.size === before.length) return
    this.#followed = [...this.#observables.values()]
    if (before.length > 0) this.#meter.removeBatchObservableCallback(this.#observe, before)
    this.#meter.addBatchObservableCallback(this.#observe, this.#followed)
  }

  readonly #observe = async (result: BatchObservableResult): Promise<void> => {
    const asked = await Promise.all([...this.#servers.keys()].map((metrics) => metrics.families()))
    const all = asked.flatMap((families, i) =>
      families.filter((family) => isObserved(family) && (i === 0 || !conventionOf(family).isOfProcess)),
    )
    const { families } = merged(all, new Set())
    for (const family of families) {
      const convention = conventionOf(family)
      const observable = this.#observables.get(convention.name)
      if (observable === undefined) continue
      for (const { value, labels } of this.#samplesOf(family))
        result.observe(observable, value, attributesOf(convention, labels))
    }
    this.#follow(families)
  }

  #samplesOf({ name, type, samples }: Family): Iterable<Sample> {
    if (name === 'http_requests_in_flight') return this.#active.samples()
    if (type !== 'summary') return samples
    const [count = 0, sum = 0] = [...samples].map(({ value }) => value)
    const looks = count - this.#delay.count
    const value = looks <= 0 ? 0 : (sum - this.#delay.sum) / looks
    this.#delay = { count, sum }
    return [{ value }]
  }
}

/** Histograms, and the sizes of requests, are recorded as they are observed. */
const isObserved = ({ name, type }: Pick<Family, 'name' | 'type'>) =>
  type === 'counter' || type === 'gauge' || name === 'process_event_loop_delay_seconds'
