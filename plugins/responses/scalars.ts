import { fail } from './mismatch.ts'

/** How strictly scalars are checked. */
export interface Strictness {
  /** Whether numbers become strings and strings become numbers, if nothing is lost. */
  readonly coerce: boolean
}

/** The value that an object has in JSON: a date, for example, becomes a string. */
export function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value, '') as unknown) : value
}

/** The helpers that compiled code calls where a value does not have the right type from the start. */
export function scalarsFor({ coerce }: Strictness) {
  return {
    string(value: unknown, format?: string): string {
      if (value instanceof Date && !Number.isNaN(value.getTime())) {
        const text = value.toISOString()
        return format === 'date' ? text.slice(0, 10) : format === 'time' ? text.slice(11) : text
      }
      const given = plain(value)
      if (typeof given === 'string') return given
      if (coerce && ['number', 'boolean', 'bigint'].includes(typeof given)) return String(given)
      return fail('must be a string')
    },
    number(value: unknown): number {
      const given = plain(value)
      if (typeof given === 'number' && Number.isFinite(given)) return given
      if (coerce && typeof given === 'string' && given.trim() !== '' && Number.isFinite(Number(given))) {
        return Number(given)
      }
      return fail('must be a finite number')
    },
    integer(value: unknown): number {
      const given = plain(value)
      if (Number.isInteger(given)) return given as number
      if (coerce && typeof given === 'string' && given.trim() !== '' && Number.isInteger(Number(given))) {
        return Number(given)
      }
      return fail('must be a whole number')
    },
    boolean(value: unknown): boolean {
      const given = plain(value)
      if (typeof given === 'boolean') return given
      if (coerce && (given === 'true' || given === 'false')) return given === 'true'
      return fail('must be true or false')
    },
  }
}
