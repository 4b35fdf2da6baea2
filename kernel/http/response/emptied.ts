import { defineError } from '../../support/errors.ts'

export const UnserializableError = defineError(
  'UnserializableError',
  500,
  (why: string) => `the body cannot be written as JSON: ${why}. Answer with plain data`,
)

/**
 * Refuses what JSON has written as `{}` although it is more than that: a Map, a Set, an Error. Asked of that text alone, so
 * that no other body pays for it.
 *
 * @throws UnserializableError
 */
export function refuseEmptied(payload: unknown): void {
  if (typeof payload !== 'object' || payload === null || typeof (payload as { toJSON?: unknown }).toJSON === 'function')
    return
  const isMore =
    Symbol.toStringTag in payload ||
    Symbol.iterator in payload ||
    Symbol.asyncIterator in payload ||
    payload instanceof Error ||
    payload instanceof RegExp
  if (isMore) throw UnserializableError(`nothing of ${nameOf(payload)} would be left`)
}

function nameOf(payload: object): string {
  if (payload instanceof Error) return 'an Error'
  const tag = Object.prototype.toString.call(payload).slice(8, -1)
  return tag === 'Object' ? 'an iterable' : `the ${tag}`
}
