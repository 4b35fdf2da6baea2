import { isDeepStrictEqual } from 'node:util'
import { isObject } from './json.ts'

/**
 * Whether a value is as expected: an object has these members, a string matches a regular expression, a list has the value among its items or,
 * compared with a list, is equal to it.
 */
export function matches(actual: unknown, expected: unknown): boolean {
  // Not `test`, which remembers its position in a global expression.
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) !== -1
  if (Array.isArray(actual) && !Array.isArray(expected)) return actual.some((one) => matches(one, expected))
  if (!isObject(expected) || !isObject(actual)) return isDeepStrictEqual(actual, expected)
  return Object.entries(expected).every(([name, value]) => matches(actual[name], value))
}
