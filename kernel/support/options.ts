import { defineError } from './errors.ts'
import { nearest } from './nearest.ts'
import { parseSize } from './size.ts'

export const OptionError = defineError('OptionError', 500, (option: string, got: unknown, expected: string) => {
  return `the option "${option}" is ${show(got)}; it takes ${expected}`
})

/** A value for a message. Of an object the names alone: their values may be secrets. */
function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  // A plugin may describe a value itself, a secret for example.
  if (value instanceof RegExp || value instanceof Date || Object.hasOwn(value, 'toString')) return String(value)
  const names = Object.keys(value)
  return names.length === 0 ? 'an empty object' : `{ ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''} }`
}

const UnknownOptionError = defineError(
  'UnknownOptionError',
  500,
  (option: string, near: string | undefined, known: readonly string[]) =>
    `"${option}" is no option.${near === undefined ? '' : ` Did you mean "${near}"?`} There are ${known.join(', ')}`,
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
  if (bytes === undefined) throw OptionError(option, size, 'a number of bytes above 0 or a size like "100kb" or "2mb"')
  return bytes
}
