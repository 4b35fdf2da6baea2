import {
  type Bounds,
  type Counter,
  checkMetric,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type Instrument,
  MetricError,
  type MetricOptions,
  makeCounter,
  makeGauge,
  makeHistogram,
} from './instruments.ts'
import { type Family, type Sample, writeText } from './text.ts'

/** Families that are made at each scrape. */
export type Collector = () => readonly Family[] | Promise<readonly Family[]>

/** The metrics of one server, and those of the application. */
export class Metrics {
  readonly #bounds: Bounds
  readonly #instruments = new Map<string, Instrument>()
  readonly #collectors: Collector[] = []
  #report: ((metric: string, what: string) => void) | undefined
  /** What is to be reported once there is a log. */
  readonly #unreported: (readonly [metric: string, what: string])[] = []
  /** The port of a listener of its own, while it listens. */
  port: number | undefined

  constructor({ maxLabelValues, maxSeries }: { readonly maxLabelValues: number; readonly maxSeries: number }) {
    this.#bounds = { maxLabelValues, maxSeries, warn: (...what) => this.#warn(...what) }
  }

  /**
   * Makes a counter.
   *
   * @throws MetricError for a name that is taken, or that the format does not have.
   * @example
   * const orders = server.services.get('metrics').counter({ name: 'orders', help: 'Orders that were placed', labels: ['kind'] })
   * orders.increment({ kind: 'book' })
   */
  counter<const Label extends string = never>(options: MetricOptions<Label>): Counter<Label> {
    return this.#add(options, makeCounter) as unknown as Counter<Label>
  }

  /** Makes a gauge. @throws as `counter`. */
  gauge<const Label extends string = never>(options: MetricOptions<Label>): Gauge<Label> {
    return this.#add(options, makeGauge) as unknown as Gauge<Label>
  }

  /** Makes a histogram. @throws as `counter`; and for buckets that do not ascend. */
  histogram<const Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label> {
    return this.#add(options, makeHistogram) as unknown as Histogram<Label>
  }

  #add<One extends Instrument>(
    options: MetricOptions<string>,
    make: (options: MetricOptions<string>, bounds: Bounds) => One,
  ): One {
    checkMetric(options)
    if (this.#instruments.has(options.name)) throw MetricError(options.name, 'the name is taken')
    const made = make(options, this.#bounds)
    this.#instruments.set(options.name, made)
    return made
  }

  #warn(...what: readonly [metric: string, what: string]): void {
    if (this.#report === undefined) this.#unreported.push(what)
    else this.#report(...what)
  }

  /** @internal Says who is told of a label with too many values. */
  reportTo(report: (metric: string, what: string) => void): void {
    this.#report = report
    for (const what of this.#unreported.splice(0)) report(...what)
  }

  /** @internal */
  collect(collector: Collector): void {
    this.#collectors.push(collector)
  }

  /** Everything in the format OpenMetrics. */
  async text(): Promise<string> {
    const collected = await Promise.all(this.#collectors.map(async (collector) => collector()))
    const own = [...this.#instruments.values()].map((instrument) => instrument.family())
    return writeText(merged([...collected.flat(), ...own]))
  }
}

/** One family for each name: a plugin in several scopes has one, and samples of the same labels count together. */
function merged(families: readonly Family[]): Family[] {
  const byName = new Map<string, { family: Family; samples: Map<string, Sample> }>()
  for (const family of families) {
    const one = byName.get(family.name) ?? { family, samples: new Map<string, Sample>() }
    byName.set(family.name, one)
    if (one.family.type !== family.type) continue
    for (const sample of family.samples) {
      const key = `${sample.suffix} ${JSON.stringify(sample.labels ?? {})}`
      const before = one.samples.get(key)
      one.samples.set(key, before === undefined ? sample : { ...sample, value: before.value + sample.value })
    }
  }
  return [...byName.values()].map(({ family, samples }) => ({ ...family, samples: [...samples.values()] }))
}
