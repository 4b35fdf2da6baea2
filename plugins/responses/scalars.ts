import { fail } from './mismatch.ts'

/** The value that an object has in JSON: a date, for example, becomes a string. */
export function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value, '') as unknown) : value
}

const exactly =
  <Type>(fits: (given: unknown) => boolean, expected: string) =>
  (value: unknown): Type => {
    const given = plain(value)
    return fits(given) ? (given as Type) : fail(expected)
  }

/** The helpers that compiled code calls where a value does not have the right type from the start. */
export const scalars = {
  string(value: unknown, format?: string): string {
    if (value instanceof Date && !Number.isNaN(value.getTime())) {
      const text = value.toISOString()
      return format === 'date' ? text.slice(0, 10) : format === 'time' ? text.slice(11) : text
    }
    const given = plain(value)
    if (typeof given === 'string') return given
    return fail('must be a string')
  },
  number: exactly<number>(Number.isFinite, 'must be a finite number'),
  integer: exactly<number>(Number.isInteger, 'must be a whole number'),
  boolean: exactly<boolean>((given) => typeof given === 'boolean', 'must be true or false'),
}
