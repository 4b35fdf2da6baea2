import { isObject, put } from '../shared/values/json.ts'
import { fail, Mismatch, once, passing } from './mismatch.ts'
import { plain } from './scalars.ts'

/** Returns the members of a value that its schema names; throws a {@link Mismatch} for any other value. */
export type Shape = (value: unknown) => unknown

export const scalarTypes = new Set(['string', 'number', 'integer', 'boolean'])

/**
 * Whether this is V8 up to 11 (Node.js 20). Its `JSON.stringify` is slow, above all for a list that may have holes, such as one
 * created with its length: 376 µs for 1000 items, and 362 µs for a copy that is overwritten. Later versions write both equally fast.
 */
export const isOldV8 = process.versions.bun === undefined && Number.parseInt(process.versions.v8 ?? '99', 10) < 12

/** The functions that compiled code and the interpreter may call. */
export const helpers = {
  fail,
  passing,
  once,
  plain,
  put,
  own: (value: object, key: string) =>
    Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined,
  /** A list as long as a given one, for the picked parts of its items. */
  listLike: (list: readonly unknown[]): unknown[] =>
    isOldV8 && Object.getPrototypeOf(list) === Array.prototype
      ? Array.prototype.slice.call(list)
      : new Array(list.length),
  /** A member, including one of a class, but never one that every object inherits. */
  member: (value: Record<string, unknown>, key: string) =>
    key in Object.prototype ? helpers.own(value, key) : value[key],
  among(value: unknown, values: ReadonlySet<unknown>) {
    return values.has(value) ? value : fail('is not one of the values that the schema lists')
  },
  /** The same where the values include objects, which are compared as they are written: a date as its string. */
  alike(value: unknown, has: (value: unknown) => boolean) {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined || !has(JSON.parse(text))) fail('is not one of the values that the schema lists')
  },
  /** Merges what two schemas pick from one value into a new object; returns the whole value only if neither of them picks. */
  merge(known: unknown, more: unknown, value: unknown): unknown {
    if (known === value) return more
    if (more === value) return known
    const given = plain(value)
    if (Array.isArray(known) && Array.isArray(more) && Array.isArray(given)) {
      return known.map((one, i) => helpers.merge(one, more[i], given[i]))
    }
    if (!isObject(known) || !isObject(more) || !isObject(given)) return more
    const merged = {}
    for (const key of Object.keys(known)) put(merged, key, known[key])
    for (const key of Object.keys(more)) {
      if (more[key] === undefined) continue
      const one =
        known[key] !== undefined && Object.hasOwn(known, key)
          ? helpers.merge(known[key], more[key], helpers.member(given, key))
          : more[key]
      put(merged, key, one)
    }
    return merged
  },
  first(value: unknown, shapes: readonly Shape[]) {
    for (const shape of shapes) {
      try {
        return shape(value)
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error
      }
    }
    return fail('matches none of the listed schemas')
  },
  fits(value: unknown, shape: Shape) {
    try {
      shape(value)
      return true
    } catch (error) {
      if (error instanceof Mismatch) return false
      throw error
    }
  },
  kind(value: unknown, types: readonly string[]) {
    const given = plain(value)
    const type = given === null ? 'null' : Array.isArray(given) ? 'array' : typeof given
    if (types.includes(type)) return type
    if (type === 'number' && types.includes('integer')) return 'integer'
    // A scalar type converts the value, or refuses it.
    return types.find((one) => scalarTypes.has(one)) ?? fail(`must be one of ${types.join(', ')}`)
  },
}
