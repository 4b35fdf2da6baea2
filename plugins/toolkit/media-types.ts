import { createRequire } from 'node:module'
import { extendMediaTypes, type MediaTypeLibrary } from '../../kernel/index.ts'

const load = createRequire(import.meta.url)

/** Gives the kernel the media types of all endings; they are loaded with the first ending that is not an everyday one. */
export function knowMediaTypes(): void {
  extendMediaTypes(() => load('mime') as MediaTypeLibrary)
}
