import type { Format } from 'ajv'

/**
 * The longest text that a format is tried on. Measured on 50 kB: `url` takes 4 s, being quadratic, `regex` 0.5 s,
 * `uri-reference` and `date-time` 0.1 s; within these bounds all take less than 10 ms.
 */
const bounds: Record<string, number> = { url: 2_048, regex: 512, email: 320, hostname: 253 }
const usualBound = 4_096
/** One pass over the text; they are meant for long ones. */
const unbounded = new Set(['byte', 'binary', 'password'])

/** The same format, which refuses a text that is longer than anything it could mean. */
export function bounded(name: string, format: Format): Format {
  const limit = bounds[name] ?? usualBound
  if (unbounded.has(name)) return format
  if (format instanceof RegExp) return guard(limit, (text) => format.test(text))
  if (typeof format === 'function') return guard(limit, format as (text: string) => boolean)
  if (typeof format !== 'object' || format.type === 'number') return format
  const { validate } = format
  if (validate instanceof RegExp) return { ...format, validate: guard(limit, (text) => validate.test(text)) } as Format
  if (typeof validate !== 'function') return format
  return { ...format, validate: guard(limit, validate as (text: string) => boolean) } as Format
}

function guard(limit: number, validate: (text: string) => boolean): (text: string) => boolean {
  return (text) => text.length <= limit && validate(text)
}
