import { sharing } from '../shared/values/memoize.ts'
import {
  type Bounds,
  type Counter,
  checkMetric,
  checkMetricOptions,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type Instrument,
  MetricError,
  type MetricOptions,
  makers,
  type OwnOptions,
  type Recorder,
} from './instruments.ts'
import { type Family, type Sample, seriesOf, writeText } from './text.ts'

/** Returns families that are created anew at each scrape. */
export type Collector = () => readonly Family[] | Promise<readonly Family[]>

/** @internal Receives the data of a request once its response has been passed on. */
export type RequestRecorder = (
  attributes: { [name: string]: string | number },
  seconds: number,
  received: number | undefined,
  sent: number | undefined,
) => void

/** @internal Another destination for the metrics besides the text. */
export interface Sink {
  histogram(family: Family, buckets: readonly number[]): Recorder
  readonly request: RequestRecorder
  added(families: readonly Family[]): void
}

/** The metrics of one server and of its application. */
export class Metrics {
  readonly #bounds: Bounds
  readonly #reserved: ReadonlySet<string>
  readonly #instruments = new Map<string, Instrument>()
  readonly #collectors: Collector[] = []
  readonly #conflicting = new Set<string>()
  #sink: Sink | undefined
  /** @internal The bounds of the durations of requests. */
  requestBuckets: readonly number[] | undefined
  #report: ((metric: string, what: string) => void) | undefined
  /** Reports that are waiting for a log. */
  readonly #unreported: (readonly [metric: string, what: string])[] = []
  /** The port of a separate listener, while it listens. */
  port: number | undefined

  /** `reserved`: the names that a metric of the application must not have, even before the boot. */
  constructor({ maxLabelValues, maxSeries }: Omit<Bounds, 'warn'>, reserved: readonly string[]) {
    this.#reserved = new Set(reserved)
    this.#bounds = { maxLabelValues, maxSeries, warn: (...what) => this.#warn(...what) }
  }

  /**
   * Creates a counter.
   *
   * @throws MetricError for a name that is taken, or that the format does not allow.
   * @example
   * const orders = server.services.get('metrics').counter({ name: 'orders', help: 'Orders that were placed', labels: ['kind'] })
   * orders.increment({ kind: 'book' })
   */
  counter<const Label extends string = never>(options: MetricOptions<Label>): Counter<Label> {
    return this.#add('counter', options) as unknown as Counter<Label>
  }

  /** Creates a gauge. @throws as `counter`. */
  gauge<const Label extends string = never>(options: MetricOptions<Label>): Gauge<Label> {
    return this.#add('gauge', options) as unknown as Gauge<Label>
  }

  /** Creates a histogram. @throws as `counter`, and for buckets that do not ascend. */
  histogram<const Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label> {
    return this.#add('histogram', options) as unknown as Histogram<Label>
  }

  #add(type: keyof typeof makers, options: MetricOptions<string>): Instrument {
    checkMetricOptions(options, type)
    return this.#make(type, options)
  }

  #make(type: keyof typeof makers, options: OwnOptions): Instrument {
    checkMetric(options)
    if (this.#instruments.has(options.name) || this.#reserved.has(options.name))
      throw MetricError(options.name, 'the name is taken. Make each metric once, at the start, and share it')
    const made = makers[type](options, this.#bounds)
    this.#instruments.set(options.name, made)
    this.#introduce(made)
    return made
  }

  #warn(...what: readonly [metric: string, what: string]): void {
    if (this.#report === undefined) this.#unreported.push(what)
    else this.#report(...what)
  }

  /** @internal Sets the function that receives reports of omitted values and families. */
  reportTo(report: (metric: string, what: string) => void): void {
    this.#report = report
    for (const what of this.#unreported.splice(0)) report(...what)
  }

  /** @internal */
  collect(collector: Collector): void {
    this.#collectors.push(collector)
  }

  /** @internal Creates a metric of the work of the process; returns the function that receives its values, with the error that the work ended with. */
  workMetric(type: keyof typeof makers, options: OwnOptions): Instrument['put'] {
    return this.#make(type, options).put
  }

  /** @internal Makes a sink receive each value of a histogram from now on, including later histograms. */
  recordTo(sink: Sink | undefined): void {
    this.#sink = sink
    for (const instrument of this.#instruments.values()) this.#introduce(instrument)
  }

  /** @internal Receives the data of each request. */
  get requestRecorder(): RequestRecorder | undefined {
    return this.#sink?.request
  }

  #introduce(instrument: Instrument): void {
    const family = instrument.family()
    if (instrument.recordTo === undefined) this.#sink?.added([family])
    else instrument.recordTo((buckets) => this.#sink?.histogram(family, buckets))
  }

  /** Returns all metrics in the OpenMetrics format. Calls made while it is being written share the result. */
  readonly text = sharing(async (): Promise<string> => writeText(await this.families()))

  /** @internal Calls made while the families are being collected share the result. */
  readonly families = sharing(async (): Promise<readonly Family[]> => {
    const collected = await Promise.all(this.#collectors.map(async (collector) => collector()))
    // Read last, so that values counted while a plugin collects are in the result.
    const own = [...this.#instruments.values()].map((instrument) => instrument.family())
    const { families, conflicts } = merged([...own, ...collected.flat()], new Set(this.#instruments.keys()))
    for (const name of conflicts) {
      if (this.#conflicting.has(name)) continue
      this.#conflicting.add(name)
      this.#warn(name, 'two plugins, or a plugin and the application, use this name differently: the later is left out')
    }
    return families
  })
}

/** Samples that can be read several times: a scrape and the OpenTelemetry SDK may share them. */
const again = (samples: ReadonlyMap<string, Sample>): Iterable<Sample> => ({
  [Symbol.iterator]: () => samples.values(),
})

/** One family for each name: a plugin in several scopes has one; samples with the same labels are added, or the lowest is used. */
export function merged(
  families: readonly Family[],
  exclusive: ReadonlySet<string>,
): { readonly families: readonly Family[]; readonly conflicts: readonly string[] } {
  const conflicts: string[] = []
  const byName = new Map<string, { family: Family; samples: Map<string, Sample> }>()
  const times = new Map<string, number>()
  for (const { name } of families) times.set(name, (times.get(name) ?? 0) + 1)
  for (const family of families) {
    const before = byName.get(family.name)
    if (before !== undefined && (before.family.type !== family.type || exclusive.has(family.name))) {
      conflicts.push(family.name)
      continue
    }
    const one = before ?? { family, samples: new Map<string, Sample>() }
    byName.set(family.name, one)
    if (family.isDistinct && times.get(family.name) === 1) continue
    const together = family.scopes === 'least' ? Math.min : (a: number, b: number) => a + b
    for (const sample of family.samples) {
      const key = seriesOf(sample)
      const before = one.samples.get(key)
      one.samples.set(key, before === undefined ? sample : { ...sample, value: together(before.value, sample.value) })
    }
  }
  return {
    families: [...byName.values()].map(({ family, samples }) =>
      samples.size === 0 ? family : { ...family, samples: again(samples) },
    ),
    conflicts,
  }
}
