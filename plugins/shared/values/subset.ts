import { isDeepStrictEqual } from 'node:util'
import { isObject, isPlain } from './json.ts'

/**
 * Whether `whole` contains everything in `part`: members of objects by name, members of lists in the same order,
 * with others allowed in between. Everything else must be equal.
 */
export function isSubset(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && holdsInOrder(whole, part)
  if (!isPlain(part)) return isSame(whole, part)
  return (
    isPlain(whole) && Object.keys(part).every((key) => Object.hasOwn(whole, key) && isSubset(whole[key], part[key]))
  )
}

function holdsInOrder(whole: readonly unknown[], part: readonly unknown[]): boolean {
  let at = 0
  return part.every((wanted) => {
    while (at < whole.length && !isSubset(whole[at], wanted)) at++
    return at++ < whole.length
  })
}

/** Deep equality; bytes are compared by content, whatever their class. */
export function isSame(actual: unknown, expected: unknown): boolean {
  if (actual instanceof Uint8Array && expected instanceof Uint8Array) {
    return actual.length === expected.length && actual.every((byte, index) => byte === expected[index])
  }
  return isDeepStrictEqual(actual, expected)
}

/** A date, a map or an error has no members to compare, and part of some bytes is not the same: they are equal or not. */
const isWhole = (value: object) => ArrayBuffer.isView(value) || (!isPlain(value) && Object.keys(value).length === 0)

/** Whether an object has these members, a string matches a regular expression, or a list has the value among its items or is equal to it. */
export function matches(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(actual) && !Array.isArray(expected)) return actual.some((one) => matches(one, expected))
  // Not `test`, which remembers its position in a global expression.
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) !== -1
  if (!isObject(expected) || !isObject(actual) || isWhole(expected)) return isSame(actual, expected)
  return Object.entries(expected).every(([name, value]) => matches(actual[name], value))
}
