import { Buffer, isAscii } from 'node:buffer'
import { defineError } from '../../kernel/index.ts'
import { nestsDeeperThan, reachesPrototype } from '../shared/values/json-dangers.ts'
import { jsonFault } from '../shared/values/json-fault.ts'

export const JsonNotValidError = defineError(
  'JsonNotValidError',
  400,
  (why: string) => `the body is not valid JSON: ${why}`,
)

// `fatal`: a lenient decoder makes different bytes equal. `ignoreBOM` keeps a byte order mark in the text, which JSON does not allow.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses UTF-8 bytes as JSON.
 *
 * @throws JsonNotValidError for malformed text or bytes, for nesting deeper than `maxDepth`, and for keys that reach a prototype.
 */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  const text = decode(bytes)
  if (nestsDeeperThan(maxDepth, text, bytes)) throw JsonNotValidError(`it nests deeper than ${maxDepth} levels`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const fault = jsonFault(text)
    throw JsonNotValidError(fault === undefined || fault.isAtEnd ? 'it ends too early' : fault.place)
  }
  if (reachesPrototype(value, text)) throw JsonNotValidError('it has the key __proto__ or constructor.prototype')
  return value
}

// For 1 KB, Deno takes 0.7 µs with its decoder, but 0.15 with the check and this method; on Node.js and Bun, both take the same time.
const asciiSlice =
  'Deno' in globalThis ? (Buffer.prototype as unknown as { latin1Slice(): string }).latin1Slice : undefined

function decode(bytes: Uint8Array): string {
  if (asciiSlice !== undefined && isAscii(bytes)) return asciiSlice.call(bytes)
  try {
    return utf8.decode(bytes)
  } catch {
    throw JsonNotValidError('it is not UTF-8')
  }
}
