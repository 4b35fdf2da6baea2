import { checkOptions, sizeOption } from '../../kernel/index.ts'

/** Options of the form parser. */
export interface UrlencodedOptions {
  /** The largest body: bytes, or a size like `'1mb'`. Default `'1mb'`; more is 413. */
  sizeLimit?: number | string
}

export function limitOf(options: UrlencodedOptions = {}): number {
  checkOptions('urlencoded', options, ['sizeLimit'])
  return sizeOption('urlencoded.sizeLimit', options.sizeLimit ?? '1mb')
}
