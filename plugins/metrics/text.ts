import type { Figure } from '../toolkit/figures.ts'

/** What one scrape has of one name. */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly help: string
  readonly unit?: string | undefined
  readonly samples: readonly Sample[]
  readonly scopes?: Figure['scopes'] | undefined
}

export interface Sample {
  readonly value: number
  readonly labels?: { readonly [name: string]: string }
  /** `_bucket`, `_sum` or `_count`; of a counter always `_total`. */
  readonly suffix?: string
}

export const contentType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** OpenMetrics 1.0. */
export function writeText(families: readonly Family[]): string {
  let text = ''
  for (const { name, type, help, unit, samples } of families) {
    text += `# TYPE ${name} ${type}\n`
    if (unit !== undefined) text += `# UNIT ${name} ${unit}\n`
    text += `# HELP ${name} ${escaped(help)}\n`
    for (const { value, labels, suffix = type === 'counter' ? '_total' : '' } of samples)
      text += `${name}${suffix}${labelText(labels)} ${numberText(value)}\n`
  }
  return `${text}# EOF\n`
}

function labelText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapes: { readonly [char: string]: string } = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }
const escaped = (text: string) => text.replace(/[\\\n"]/g, (char) => escapes[char]!)

export function numberText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}

/** The bound of a bucket: the format asks for a float here, `1.0`; `1e+21` is one already. */
export const boundText = (bound: number) => (/^-?\d+$/.test(`${bound}`) ? `${bound}.0` : numberText(bound))
