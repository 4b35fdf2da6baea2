import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

let library: { getType(ending: string): string | null } | undefined

/** Types that the package `mime` has in an older form, or without their charset. */
const types: Record<string, string> = {
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
  yml: 'application/yaml; charset=utf-8',
}

const unknown = 'application/octet-stream'
const text = /^(?:text\/|application\/(?:javascript|json))/

/**
 * The media type with its charset for `json`, `.json` or a whole media type; that of bytes for an unknown name.
 *
 * @example
 * mediaType('json') // 'application/json; charset=utf-8'
 */
export const mediaType = (short: string): string =>
  short.includes('/') ? short : typeOfEnding(short.replace(/^\./, '').toLowerCase())

/**
 * The media type of a file by the ending of its name, or of its path.
 *
 * @example
 * mediaTypeOfFile('photos/ada.webp') // 'image/webp'
 */
export function mediaTypeOfFile(path: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]
  return ending === undefined ? unknown : typeOfEnding(ending.toLowerCase())
}

function typeOfEnding(ending: string): string {
  if (Object.hasOwn(types, ending)) return types[ending]!
  // Loaded with the first ending that is asked for: it takes 4 ms, which a server of JSON alone never needs.
  library ??= load('mime') as NonNullable<typeof library>
  const type = library.getType(ending)
  if (typeof type !== 'string') return unknown
  return text.test(type) ? `${type}; charset=utf-8` : type
}
