import { createRequire } from 'node:module'
import { extendMediaTypes, type MediaTypeLibrary } from '../../../kernel/index.ts'

const load = createRequire(import.meta.url)

/** Sets the media types of all endings in the kernel; they are loaded with the first unusual ending. */
export function knowMediaTypes(): void {
  extendMediaTypes(() => load('mime') as MediaTypeLibrary)
}
