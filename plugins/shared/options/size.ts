import { OptionError, quoted } from '../../../kernel/support/options.ts'

const units: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/**
 * A size in bytes, from a number of them or a string such as `'100kb'` (1 kb is 1024 bytes) or `'1.5 MB'`; `undefined` for anything else.
 *
 * @example
 * parseSize('100kb') // 102400
 */
export function parseSize(size: unknown): number | undefined {
  const [, amount, unit] = typeof size === 'string' ? (/^(\d+(?:\.\d+)?) *(b|kb|mb|gb)?$/i.exec(size) ?? []) : []
  const bytes = amount === undefined ? size : Math.floor(Number(amount) * units[(unit ?? 'b').toLowerCase()]!)
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}

/** The valid sizes, for messages. */
export const sizeTakes = 'a number of bytes above 0 or a size like "100kb" or "2mb"'

/**
 * The number of bytes of a size option; throws an error that names the option for an invalid one.
 *
 * @example
 * sizeOption('upload.maxFileSize', '10mb') // 10485760
 */
export function sizeOption(option: string, size: unknown): number {
  const bytes = parseSize(size)
  if (bytes === undefined) throw OptionError(option, quoted(size), sizeTakes)
  return bytes
}
