import { checkOptions, OptionError, quoted, sizeOption } from '../../kernel/index.ts'

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

export function limitsOf(options: JsonOptions = {}): JsonLimits {
  checkOptions('json', options, ['sizeLimit', 'maxDepth'])
  const { sizeLimit = '100kb', maxDepth = 64 } = options
  const bytes = sizeOption('json.sizeLimit', sizeLimit)
  if (!Number.isInteger(maxDepth) || maxDepth < 1 || maxDepth > 1000) {
    throw OptionError('json.maxDepth', quoted(maxDepth), 'a whole number from 1 to 1000')
  }
  return { bytes, depth: maxDepth }
}
