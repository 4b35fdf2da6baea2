// Not the global, which a runner may fake.
import { setImmediate } from 'node:timers'
import type { Figure } from '../shared/development/metrics.ts'

/** What a family looks like in OpenTelemetry. */
export interface Convention {
  readonly name: string
  readonly unit: string
  /** Whether it is a gauge whose values from several processes may be added. */
  readonly isSum?: boolean
  /** Whether it is counted for the process: if the process has several servers, only one exports it. */
  readonly isOfProcess?: boolean
  /** The names of attributes, by label; a label that is not listed keeps its name. */
  readonly labels?: { readonly [label: string]: string }
  readonly attributes?: { readonly [name: string]: string }
}

/** The values of one name in one scrape. */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly help: string
  readonly unit?: string | undefined
  readonly samples: Iterable<Sample>
  /** Whether no two samples have the same labels; otherwise they may come from several scopes. */
  readonly isDistinct?: boolean
  readonly scopes?: Figure['scopes'] | undefined
  /** What it is called in OpenTelemetry; otherwise its name decides. */
  readonly convention?: Convention | undefined
}

export interface Sample {
  readonly value: number
  readonly labels?: { readonly [name: string]: string }
  /** `_bucket`, `_sum` or `_count`; for a counter always `_total`. */
  readonly suffix?: string
}

export const contentType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** Samples written in one go, about 2 ms. A server with 10,000 routes has 140,000, and would handle no request for a second. */
const turn = 1_000

/** Writes OpenMetrics 1.0, letting the event loop take its turn in between. */
export async function writeText(families: readonly Family[]): Promise<string> {
  let text = ''
  let written = 0
  for (const { name, type, help, unit, samples } of families) {
    text += `# TYPE ${name} ${type}\n`
    if (unit !== undefined) text += `# UNIT ${name} ${unit}\n`
    text += `# HELP ${name} ${escaped(help)}\n`
    for (const { value, labels, suffix = type === 'counter' ? '_total' : '' } of samples) {
      text += `${name}${suffix}${labelText(labels)} ${numberText(value)}\n`
      if (++written % turn === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return `${text}# EOF\n`
}

function labelText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** Replaces half surrogate pairs: they would become U+FFFD on their way anyway, and two series would then become one. */
export const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, '\ufffd')

/** A key that is the same for all samples of one series, in whatever order their labels are. */
export const seriesOf = ({ suffix = '', labels = {} }: Sample): string =>
  JSON.stringify([
    suffix,
    ...Object.keys(labels)
      .sort()
      .map((name) => [name, wellFormed(labels[name]!)]),
  ])

const escapes: { readonly [char: string]: string } = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }
const escaped = (text: string) => wellFormed(text).replace(/[\\\n"]/g, (char) => escapes[char]!)

export function numberText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}

/** The bound of a bucket: the format requires a float here, such as `1.0`; `1e+21` already is one. */
export const boundText = (bound: number) => (/^-?\d+$/.test(`${bound}`) ? `${bound}.0` : numberText(bound))
