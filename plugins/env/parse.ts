import { createRequire } from 'node:module'
import { parse as parseSafely } from 'secure-json-parse'

// Only when a file is read: who has no env file does not pay for the parser.
const load = createRequire(import.meta.url)

/** Parsed JSON, or `undefined`; the message of the parser quotes the text and goes nowhere. */
export function jsonOf(text: string): unknown {
  try {
    return parseSafely(text, null, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The variables of a file, a JSON object or lines in the form of dotenv; `undefined` when it begins like JSON and is none. */
export function variablesOf(text: string): readonly (readonly [name: string, value: unknown])[] | undefined {
  if (!/^\s*[[{]/.test(text)) {
    const { parse } = load('dotenv') as typeof import('dotenv')
    return Object.entries(parse(text))
  }
  const json = jsonOf(text)
  return isObject(json) ? Object.entries(json) : undefined
}
