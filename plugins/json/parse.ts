import { scan } from 'secure-json-parse'
import { defineError } from '../../kernel/index.ts'
import { placeOfError } from './locate.ts'

export const JsonNotValidError = defineError(
  'JsonNotValidError',
  400,
  (why: string) => `the body is not valid JSON: ${why}`,
)

// `fatal`: a lenient decoder makes different bytes equal. `ignoreBOM` keeps a byte order mark, which JSON has not.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads UTF-8 bytes as JSON.
 *
 * @throws JsonNotValidError for malformed text or bytes, nesting deeper than `maxDepth`, and keys that reach a prototype.
 */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  const text = decode(bytes)
  if (mayNestDeeper(text, maxDepth) && nestsDeeper(bytes, maxDepth)) {
    throw JsonNotValidError(`it nests deeper than ${maxDepth} levels`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw JsonNotValidError(placeOfError(text))
  }
  // `__proto__` and `constructor.prototype` both need these letters, or an escape in their place.
  if (text.includes('proto') || text.includes('\\u')) refusePrototypeKeys(value)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw JsonNotValidError('it is not UTF-8')
  }
}

function refusePrototypeKeys(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  try {
    scan(value, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    throw JsonNotValidError('it has the key __proto__ or constructor.prototype')
  }
}

/** Whether there are more opening brackets than levels allowed: searching for a character is ten times as fast as reading. */
function mayNestDeeper(text: string, maxDepth: number): boolean {
  let left = maxDepth
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) if (left-- === 0) return true
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) if (left-- === 0) return true
  return false
}

/**
 * A million nested arrays keep `JSON.parse` busy for a third of a second, so they are counted before. On bytes, which
 * are read a third faster than characters; no byte of a longer character is one of those looked for.
 */
function nestsDeeper(bytes: Uint8Array, maxDepth: number): boolean {
  const { length } = bytes
  let depth = 0
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]!
    if (byte === 34) {
      // To the end of the string; a backslash takes the next byte with it.
      for (at++; at < length && bytes[at] !== 34; at++) if (bytes[at] === 92) at++
    } else if ((byte | 32) === 123) {
      // Square brackets differ from curly ones in one bit.
      if (++depth > maxDepth) return true
    } else if ((byte | 32) === 125) depth--
  }
  return false
}
