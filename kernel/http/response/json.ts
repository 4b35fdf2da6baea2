import { defineErrors, messageOf } from '../../support/errors.ts'

const { UnserializableError } = defineErrors({
  UnserializableError: (why: string) => `the body cannot be serialized as JSON: ${why}. Respond with plain data`,
})

/** Turns a value into JSON text; a serialiser made from a schema replaces {@link toJson}. */
export type Serialize = (payload: unknown, status: number) => string

/**
 * The serialiser of routes that have none of their own.
 *
 * @example
 * toJson({ id: 7 }) // '{"id":7}'
 */
export function toJson(payload: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (error) {
    throw Object.assign(UnserializableError(messageOf(error)), { cause: error })
  }
  // It is undefined for a function or a symbol.
  if (text === undefined) throw UnserializableError(`it is a ${typeof payload}`)
  if (text === '{}') refuseEmptied(payload)
  return text
}

/**
 * Refuses a value that JSON wrote as `{}` although it has contents: a Map, a Set, an Error. Called only when the result is `{}`, so
 * that it costs other bodies nothing.
 *
 * @throws UnserializableError
 * @example
 * refuseEmptied({ id: 7 })
 * refuseEmptied(new Map([['id', 7]])) // throws UnserializableError
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
