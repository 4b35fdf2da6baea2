import { createRequire } from 'node:module'
import { parse as parseSafely } from 'secure-json-parse'
import { isObject } from '../values/json.ts'
import { jsonFault } from '../values/json-fault.ts'
import { safely } from '../values/safely.ts'

// Used only when a file is read: an application without an environment file does not load the parser.
const load = createRequire(import.meta.url)

/** The parsed JSON, or `undefined`; the parser's message quotes the text, and is dropped. */
export const jsonOf = (text: string): unknown =>
  safely(() => parseSafely(text, null, { protoAction: 'error', constructorAction: 'error' }))

/** The variables of a file by name, or why there are none. */
type Parsed = readonly (readonly [name: string, value: unknown])[] | string

/**
 * The variables of a file, or why there are none. It is read as a JSON object if its name ends in `.json` or its text begins like
 * one, otherwise as lines in the form of dotenv.
 */
export function variablesOf(text: string, file: string): Parsed {
  if (!/\.json$/i.test(file) && !/^\s*[[{]/.test(text)) {
    const { parse } = load('dotenv') as typeof import('dotenv')
    return Object.entries(parse(text))
  }
  const json = jsonOf(text)
  if (isObject(json)) return Object.entries(json)
  const fault = jsonFault(text, '{')
  return fault === undefined
    ? 'has a name that would change a prototype: "__proto__", or "constructor" with "prototype" in it'
    : `is not a JSON object: ${fault.place}, where ${fault.expected} is expected`
}
