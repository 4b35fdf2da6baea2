import { isOptions, tagOf } from '../../../kernel/support/options.ts'
import { orFail } from './safely.ts'

/** What JSON would lose: `{}` stands for a `Map` and a promise, and `null` for `NaN`. `undefined` for a value that it represents. */
function lostKind(value: unknown, text: string | undefined): string | undefined {
  if (text === undefined && typeof value === 'object') return 'an object whose toJSON returns undefined'
  if (text === undefined) return value === undefined ? 'undefined' : `a ${typeof value}`
  if (typeof value === 'number') return text === 'null' ? String(value) : undefined
  if (text !== '{}' || isOptions(value) || typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return undefined
  return `an object of the kind ${tagOf(value as object)}`
}

/** A value as JSON; `fail` makes the error for a value that JSON cannot represent, which would otherwise be lost. */
export function jsonText(value: unknown, fail: (why: string) => Error): string {
  const text = orFail(
    () => JSON.stringify(value) as string | undefined,
    (why) => fail(`cannot be written as JSON: ${why.split('\n')[0]}`),
  )
  const lost = lostKind(value, text)
  if (lost === undefined) return text!
  throw fail(`is ${lost}, which JSON cannot represent. Use null or a plain object`)
}

/** What JSON would change in a value that it can represent, with its place: `NaN at /items/0`, `an object of the kind Date`; `undefined` for nothing. */
export function changedByJson(value: unknown, path = ''): string | undefined {
  const at = path === '' ? '' : ` at ${path}`
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${value}${at}`
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value !== 'object') return `${value === undefined ? 'undefined' : `a ${typeof value}`}${at}`
  const isList = Array.isArray(value)
  if (!isList && !isOptions(value)) return `an object of the kind ${tagOf(value)}${at}`
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return `a toJSON()${at}`
  for (const [name, one] of Object.entries(value)) {
    // JSON leaves such a member out, which no one who reads it notices.
    if (one === undefined && !isList) continue
    const changed = changedByJson(one, `${path}/${name}`)
    if (changed !== undefined) return changed
  }
  return undefined
}
