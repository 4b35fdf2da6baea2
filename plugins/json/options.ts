import { parse } from 'bytes'
import { checkOptions, OptionError } from '../../kernel/index.ts'

/** Options of the JSON body parser. */
export interface JsonOptions {
  /** The largest body: bytes, or a size like `'100kb'`. Default `'100kb'`; more is 413. */
  sizeLimit?: number | string
  /** How deep arrays and objects may nest. Default 64; deeper is 400. */
  maxDepth?: number
}

/** The options with every default in place, checked. */
export interface JsonLimits {
  readonly bytes: number
  readonly depth: number
}

// `bytes` alone would read '10 apples' as 10.
const size = /^\d+(?:\.\d+)? *(?:b|kb|mb|gb)?$/i

export function limitsOf(options: JsonOptions = {}): JsonLimits {
  checkOptions('json', options, ['sizeLimit', 'maxDepth'])
  const { sizeLimit = '100kb', maxDepth = 64 } = options
  const bytes = typeof sizeLimit === 'string' ? (size.test(sizeLimit) ? parse(sizeLimit) : null) : sizeLimit
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes <= 0) {
    throw OptionError('json.sizeLimit', sizeLimit, 'a number of bytes above 0 or a size like "100kb" or "2mb"')
  }
  if (!Number.isInteger(maxDepth) || maxDepth < 1 || maxDepth > 1000) {
    throw OptionError('json.maxDepth', maxDepth, 'a whole number from 1 to 1000')
  }
  return { bytes, depth: maxDepth }
}
