import { checkOptions, OptionError, quoted, sizeOption } from '../../kernel/index.ts'
import type { Encoding } from './coders.ts'

/** Options of compression. */
export interface CompressionOptions {
  /** Bytes from which a body is compressed; a number, or a size such as `'2kb'`. Default 1024. */
  threshold?: number | string
  /** The encodings to choose from, the best first; what the runtime lacks is left out. Default `zstd`, `br`, `gzip`. */
  encodings?: readonly Encoding[]
}

/** The options with every default in place, checked. */
export interface CompressionSettings {
  readonly threshold: number
  readonly encodings: readonly Encoding[]
}

const known: readonly Encoding[] = ['br', 'zstd', 'gzip', 'deflate']

export function settingsOf(options: CompressionOptions = {}): CompressionSettings {
  checkOptions('compression', options, ['threshold', 'encodings'])
  const { threshold = 1_024, encodings = ['zstd', 'br', 'gzip'] } = options
  if (!Array.isArray(encodings) || encodings.length === 0 || encodings.some((one) => !known.includes(one))) {
    throw OptionError('compression.encodings', encodings, `a list of ${known.join(', ')}`)
  }
  return { threshold: threshold === 0 ? 0 : sizeOption('compression.threshold', threshold), encodings }
}

/** Whether the route option turns compression off. */
export function isTurnedOff(option: unknown): boolean {
  if (option === undefined) return false
  if (option !== false) throw OptionError('compress', quoted(option), 'false, or nothing at all')
  return true
}
