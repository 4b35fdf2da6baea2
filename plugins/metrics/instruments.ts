import { defineError } from '../../kernel/index.ts'
import type { Figure } from '../shared/development/metrics.ts'
import { boundText, type Family, type Sample, wellFormed } from './text.ts'

export const MetricError = defineError('MetricError', (name: string, why: string) => `the metric "${name}": ${why}`)

/** A value for each label; no argument if there are no labels. */
export type LabelValues<Label extends string> = { readonly [Name in Label]: string | number | boolean }
type LabelArguments<Label extends string> = [Label] extends [never] ? [] : [labels: LabelValues<Label>]

/** The definition of a metric. */
export interface MetricOptions<Label extends string = never> {
  /** The name, in snake case; for a counter without `_total`, which is added. */
  readonly name: string
  /** What it means, in a sentence. */
  readonly help: string
  /** The unit, which must also be the end of the name: `seconds`, `bytes`. */
  readonly unit?: string
  /** The names of its labels. */
  readonly labels?: readonly Label[]
}

/** The options of the framework's own metrics. */
export type OwnOptions = MetricOptions<string> & Pick<Family, 'convention'>

/** The definition of a histogram. */
export interface HistogramOptions<Label extends string = never> extends MetricOptions<Label> {
  /** Upper bounds in ascending order. Default: 5 ms to 10 s, in seconds. */
  readonly buckets?: readonly number[]
}

/** A metric that only goes up. */
export interface Counter<Label extends string = never> {
  /** Adds 1. */
  increment(...labels: LabelArguments<Label>): void
  /** Adds a number of 0 or more. */
  add(by: number, ...labels: LabelArguments<Label>): void
}

/** A metric that goes up and down. */
export interface Gauge<Label extends string = never> {
  /** Sets the value. */
  set(value: number, ...labels: LabelArguments<Label>): void
  /** Adds to the value; negative numbers subtract. */
  add(by: number, ...labels: LabelArguments<Label>): void
}

/** The distribution of values. */
export interface Histogram<Label extends string = never> {
  /** Counts one value into its bucket, in the unit of the histogram. */
  observe(value: number, ...labels: LabelArguments<Label>): void
}

export const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Counts of the values up to each bound, and above the last. */
export class Buckets {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0
  #hasNegative = false

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let i = 0
    while (i < this.#bounds.length && value > this.#bounds[i]!) i++
    this.#counts[i]!++
    this.#sum += value
    if (value < 0) this.#hasNegative = true
  }

  samples(labels: { readonly [name: string]: string }): Sample[] {
    let count = 0
    const buckets = [...this.#bounds, Infinity].map((bound, i) => {
      count += this.#counts[i]!
      return { suffix: '_bucket', labels: { ...labels, le: boundText(bound) }, value: count }
    })
    // The format allows neither a sum that may decrease nor a count without a sum; the last bucket has the same value as the count.
    if (this.#hasNegative || this.#bounds[0]! < 0) return buckets
    return [...buckets, { suffix: '_count', labels, value: count }, { suffix: '_sum', labels, value: this.#sum }]
  }
}

/** How many values a label may have, and how many combinations of them a metric may have. */
export interface Bounds {
  readonly maxLabelValues: number
  readonly maxSeries: number
  warn(metric: string, what: string): void
}

const other = 'other'
const maxLabelLength = 200

interface Entry<State> {
  readonly labels: { readonly [name: string]: string }
  readonly state: State
}

/** The state of a metric for each combination of labels, limited by the bounds. */
function seriesOf<State>({ name, labels = [] }: MetricOptions<string>, bounds: Bounds, make: () => State) {
  const known = labels.map(() => new Set<string>())
  const states = new Map<string, Entry<State>>()
  const warned = new Set<string>()

  function refuse(what: string): string {
    if (!warned.has(what)) {
      warned.add(what)
      bounds.warn(name, `${what}; such values count as "other"`)
    }
    return other
  }

  function of(given: { readonly [name: string]: unknown } | undefined): Entry<State> {
    for (const label in given)
      if (!labels.includes(label))
        throw MetricError(name, `unknown label "${label}". Known labels: ${labels.join(', ') || 'none'}`)
    let values = labels.map((label, i) => {
      if (given === undefined || !Object.hasOwn(given, label) || given[label] === undefined)
        throw MetricError(name, `the label "${label}" is missing`)
      const value = wellFormed(String(given[label]))
      if (known[i]!.has(value)) return value
      // If only their number were limited, a hundred values of a megabyte each would be kept and sent with every scrape.
      if (value.length > maxLabelLength)
        return refuse(`a value of the label "${label}" is longer than ${maxLabelLength} characters`)
      if (known[i]!.size >= bounds.maxLabelValues) return refuse(`the label "${label}" has too many values`)
      known[i]!.add(value)
      return value
    })
    let key = JSON.stringify(values)
    if (states.size >= bounds.maxSeries && !states.has(key)) {
      values = values.map(() => refuse('its labels have too many combinations'))
      key = JSON.stringify(values)
    }
    let found = states.get(key)
    if (found === undefined) {
      found = { labels: Object.fromEntries(labels.map((label, i) => [label, values[i]!])), state: make() }
      states.set(key, found)
    }
    return found
  }

  // Without labels there is a single series, which starts at 0.
  if (labels.length === 0) of(undefined)
  return {
    of,
    samples: (write: (state: State, labels: Entry<State>['labels']) => readonly Sample[]): Sample[] =>
      [...states.values()].flatMap(({ labels, state }) => write(state, labels)),
  }
}

/** A metric of the registry. */
export interface Instrument {
  /** Counts a value in the way of its type: a counter adds it, a gauge is set to it, a histogram observes it. */
  put(value: number, labels: Any, error?: unknown): void
  /** Passes each value of a histogram on as well. */
  recordTo?(recorderOf: (buckets: readonly number[]) => Recorder | undefined): void
  family(): Family
}

/** Receives each value that a histogram observes, with the labels it is counted under and the error that the work ended with. */
export type Recorder = (value: number, labels: { readonly [name: string]: string }, error?: unknown) => void

type Any = { readonly [name: string]: unknown } | undefined

function number(name: string, value: number, isCounter = false): number {
  if (typeof value !== 'number' || Number.isNaN(value) || (isCounter && !(value >= 0 && value < Infinity)))
    throw MetricError(name, isCounter ? 'a counter takes a number of 0 or more' : 'it takes a number')
  return value
}

const described = ({ name, help, unit, convention }: OwnOptions, type: Family['type']) => ({
  ...{ name, type, help, unit, convention },
  isDistinct: true,
})

/** A number for each combination of labels. */
function numbers(options: OwnOptions, type: 'counter' | 'gauge', bounds: Bounds) {
  const series = seriesOf(options, bounds, () => ({ value: 0 }))
  return {
    set(value: number, labels: Any) {
      const checked = number(options.name, value)
      series.of(labels).state.value = checked
    },
    add(by: number, labels: Any) {
      const checked = number(options.name, by, type === 'counter')
      series.of(labels).state.value += checked
    },
    family: () => ({
      ...described(options, type),
      samples: series.samples(({ value }, labels) => [{ value, labels }]),
    }),
  }
}

/** Makes the metrics of each type. */
export const makers = {
  counter(options: OwnOptions, bounds: Bounds): Counter<string> & Instrument {
    const { add, family } = numbers(options, 'counter', bounds)
    return { increment: (labels: Any) => add(1, labels), add, put: add, family }
  },
  gauge(options: OwnOptions, bounds: Bounds): Gauge<string> & Instrument {
    const { set, add, family } = numbers(options, 'gauge', bounds)
    return { set, add, put: set, family }
  },
  histogram(options: OwnOptions & HistogramOptions<string>, bounds: Bounds): Histogram<string> & Instrument {
    const { name, buckets = defaultBuckets } = options
    if (
      !Array.isArray(buckets) ||
      buckets.length === 0 ||
      buckets.some((bound, i) => !Number.isFinite(bound) || (i > 0 && bound <= buckets[i - 1]!))
    )
      throw MetricError(name, 'buckets is a list of finite numbers in ascending order')
    if (options.labels?.includes('le')) throw MetricError(name, 'the label "le" is that of its buckets')
    const series = seriesOf(options, bounds, () => new Buckets(buckets))
    let recorder: Recorder | undefined
    const observe = (value: number, labels: Any, error?: unknown) => {
      const checked = number(name, value)
      const entry = series.of(labels)
      entry.state.observe(checked)
      recorder?.(checked, entry.labels, error)
    }
    return {
      observe,
      put: observe,
      recordTo(recorderOf) {
        recorder = recorderOf(buckets)
      },
      family: () => ({
        ...described(options, 'histogram'),
        samples: series.samples((state, labels) => state.samples(labels)),
      }),
    }
  },
}

const labelName = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/

const members = ['name', 'help', 'unit', 'labels']

/** Refuses unknown options: a misspelt `labels` would create a metric without labels. */
export function checkMetricOptions(options: unknown, type: keyof typeof makers): void {
  const known = type === 'histogram' ? [...members, 'buckets'] : members
  if (typeof options !== 'object' || options === null)
    throw MetricError(String(options), 'a metric is made with options such as { name, help }')
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const { name } = options as { name?: unknown }
  throw MetricError(String(name), `unknown option "${unknown}". Known options: ${known.join(', ')}`)
}

/** Refuses definitions that the format cannot express. */
export function checkMetric({ name, help, unit, labels = [] }: MetricOptions<string>): void {
  if (typeof name !== 'string' || !/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name))
    throw MetricError(String(name), 'a name is made of letters, digits and "_"')
  if (/_(total|bucket|sum|count|created|info)$/.test(name))
    throw MetricError(name, 'the format adds such an ending by itself: leave it out')
  if (typeof help !== 'string' || help === '') throw MetricError(name, 'it needs the string help')
  if (!Array.isArray(labels)) throw MetricError(name, 'labels is a list of names')
  if (unit !== undefined && (unit === '' || !name.endsWith(`_${unit}`)))
    throw MetricError(name, `its name must end with its unit, "_${unit}"`)
  const wrong = labels.find((label) => !labelName.test(label))
  if (wrong !== undefined)
    throw MetricError(
      name,
      `"${wrong}" is not the name of a label: letters, digits and "_", without a digit or "__" at the beginning`,
    )
  const twice = labels.find((label, i) => labels.indexOf(label) !== i)
  if (twice !== undefined) throw MetricError(name, `the label "${twice}" is in its labels twice`)
}

/** Refuses figures of a plugin that the format cannot express. */
export function checkFigures(figures: readonly Figure[]): void {
  if (!Array.isArray(figures)) throw new TypeError('metrics of a definition must return a list of figures')
  for (const figure of figures as readonly (Figure | null)[]) {
    const { name, type, help, unit, samples } = figure ?? ({} as Figure)
    checkMetric({ name, help, ...(unit !== undefined && { unit }) })
    if (type !== 'counter' && type !== 'gauge') throw MetricError(name, 'its type is "counter" or "gauge"')
    if (!Array.isArray(samples)) throw MetricError(name, 'it has no list of samples')
    for (const { value, labels = {} } of samples as Figure['samples']) {
      const isCounter = type === 'counter'
      if (typeof value !== 'number' || (isCounter && !(value >= 0)))
        throw MetricError(name, isCounter ? 'a counter is a number of 0 or more' : 'a sample has a number as its value')
      for (const [label, text] of Object.entries(labels)) {
        if (!labelName.test(label)) throw MetricError(name, `"${label}" is not the name of a label`)
        if (typeof text !== 'string') throw MetricError(name, `the label "${label}" is not a text`)
      }
    }
  }
}
