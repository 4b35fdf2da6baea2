import { defineError } from './errors.ts'
import { nearest } from './nearest.ts'
import { parseSize } from './size.ts'

export const OptionError = defineError('OptionError', 500, (option: string, got: unknown, expected: string) => {
  return `the option "${option}" is ${show(got)}; it takes ${expected}`
})

/** What stands for a value in a message. */
class Shown {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** An address may have a password in it, and what is long is a key or a certificate rather than a word. */
const mayBeSecret = (text: string) => text.length > 200 || /:\/\/|@|[\r\n]/.test(text)

/**
 * A value whose text may be shown: that of an option which takes a word, a number, a name or a path.
 *
 * Without it no message shows a text. Whatever was given may be a secret, also where none belongs: an address with its
 * password as the name of a host, or a key in place of the options.
 *
 * @example
 * const mode = process.env.MODE ?? 'fast'
 * if (!['fast', 'exact'].includes(mode)) throw OptionError('mode', quoted(mode), '"fast" or "exact"')
 */
export function quoted(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && !mayBeSecret(one))) {
    return new Shown(`[${value.join(', ')}]`)
  }
  return typeof value === 'string' && !mayBeSecret(value) ? new Shown(JSON.stringify(value)) : value
}

/** Words that stand for a value: `described('an empty list')`. */
export function described(words: string): unknown {
  return new Shown(words)
}

/** A value of an option that holds a secret: not even a number is shown, nor the names of an object. */
export function hidden(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return value
  const kind = Array.isArray(value) ? 'list' : typeof value
  return kind === 'string' ? value : new Shown(`${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} (not shown)`)
}

/** A value for a message. Of an object the names alone: their values may be secrets. */
function show(value: unknown): string {
  if (value instanceof Shown || value instanceof RegExp || value instanceof Date) return String(value)
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'text (not shown)'
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (ArrayBuffer.isView(value)) return 'bytes'
  const names = Object.keys(value)
  return names.length === 0 ? 'an empty object' : `{ ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''} }`
}

const UnknownOptionError = defineError(
  'UnknownOptionError',
  500,
  (option: string, near: string | undefined, known: readonly string[]) =>
    `"${option}" is not an option.${near === undefined ? '' : ` Did you mean "${near}"?`} ${known.length === 1 ? 'The only one is' : 'The options are'} ${known.join(', ')}`,
)

/**
 * Checks the options object of a plugin: an object, and no name it does not know.
 *
 * @throws OptionError or UnknownOptionError; the latter tells the nearest known name.
 * @example
 * checkOptions('json', options, ['sizeLimit', 'maxDepth'])
 */
export function checkOptions(plugin: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw OptionError(plugin || 'options', options, `an object with ${known.join(', ')}`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (known.includes(name) || value === undefined) continue
    throw UnknownOptionError(plugin === '' ? name : `${plugin}.${name}`, nearest(name, known), known)
  }
}

/** The bytes that a size option of a plugin means; else an error that names the option. */
export function sizeOption(option: string, size: unknown): number {
  const bytes = parseSize(size)
  if (bytes === undefined)
    throw OptionError(option, quoted(size), 'a number of bytes above 0 or a size like "100kb" or "2mb"')
  return bytes
}
