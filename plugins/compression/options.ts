import { option } from '../shared/options/index.ts'
import type { Encoding } from './coders.ts'

/** Options of compression. */
export interface CompressionOptions {
  /** The minimum size of a body to be compressed: bytes, or a size such as `'2kb'`. Default 1024. */
  threshold?: number | string
  /** The encodings to choose from, the preferred one first; unsupported ones are ignored. Default `zstd`, `br`, `gzip`. */
  encodings?: readonly Encoding[]
}

const encoding = option.oneOf('br', 'zstd', 'gzip', 'deflate')

export const compressionOptions = option
  .shape({
    threshold: option.either(option.oneOf(0), option.size()).says('0, bytes, or a size like "2kb"').default(1_024),
    encodings: option.list(encoding, { min: 1 }).default(['zstd', 'br', 'gzip']),
  })
  .typed<CompressionOptions>()
