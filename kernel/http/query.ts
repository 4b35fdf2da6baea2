import { parse } from 'node:querystring'
import { BadRequestError } from '../support/errors.ts'

/** A parsed query: repeated names become arrays. */
export type Query = Record<string, string | string[]>

const maxPairs = 1_000
const refused = new Set(['__proto__', 'constructor', 'prototype'])

/** A malformed escape in a value is kept as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Reads a query string into an object without prototype; `__proto__`, `constructor` and `prototype` are ignored.
 *
 * @throws BadRequestError for more than 1000 parameters: counted, not cut, so that nothing is lost in silence.
 */
export function parseQuery(text: string, what = 'the query'): Query {
  if (text === '') return Object.create(null) as Query
  let pairs = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) pairs++
  if (pairs > maxPairs) throw BadRequestError(`${what} has more than ${maxPairs} parameters`)
  const parsed = parse(text, '&', '=', { maxKeys: 0, decodeURIComponent: decode }) as Query
  const query = Object.create(null) as Query
  for (const name in parsed) if (!refused.has(name)) query[name] = parsed[name]!
  return query
}
