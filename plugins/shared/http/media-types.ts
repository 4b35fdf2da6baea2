import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

/** A library that knows more endings than the built-in table, such as the package `mime`. */
export interface MediaTypeLibrary {
  /** The media type of an ending without its dot (`webp`), `null` for an unknown one. */
  getType(ending: string): string | null
}

let loadLibrary: (() => MediaTypeLibrary) | undefined

/**
 * Sets a library for endings that the built-in table does not have. `framework/kernel` has no library of its own; the first one that is
 * set is used, and it is loaded when such an ending occurs.
 *
 * @example
 * extendMediaTypes(() => ({ getType: (ending) => (ending === 'glb' ? 'model/gltf-binary' : null) }))
 */
export function extendMediaTypes(load: () => MediaTypeLibrary): void {
  loadLibrary ??= load
}

/** Knows all endings; the library is loaded with the first unusual one. */
export function knowMediaTypes(): void {
  extendMediaTypes(() => load('mime') as MediaTypeLibrary)
}

/** Common types of the web, with their charset. */
const types: Record<string, string> = {
  avif: 'image/avif',
  css: 'text/css; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  text: 'text/plain; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  wasm: 'application/wasm',
  webp: 'image/webp',
  woff2: 'font/woff2',
  xml: 'application/xml; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
  yml: 'application/yaml; charset=utf-8',
  zip: 'application/zip',
}

const unknown = 'application/octet-stream'
const text = /^(?:text\/|application\/(?:javascript|json))/

/**
 * The media type with its charset for `json`, `.json` or a whole media type; that of bytes for an unknown name.
 *
 * @example
 * mediaType('json') // 'application/json; charset=utf-8'
 */
export function mediaType(short: string): string {
  return short.includes('/') ? short : typeOfEnding(short.replace(/^\./, '').toLowerCase())
}

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
  const type = loadLibrary?.().getType(ending)
  if (typeof type !== 'string') return unknown
  return text.test(type) ? `${type}; charset=utf-8` : type
}
