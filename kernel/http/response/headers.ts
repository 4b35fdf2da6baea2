import { defineErrors } from '../../support/errors.ts'

export const { HeaderNameError, HeaderValueError, FramingHeaderError } = defineErrors({
  HeaderNameError: (name: string) =>
    `${JSON.stringify(name)} is not a header name: letters, digits and !#$%&'*+-.^_\`|~ only (RFC 9110 section 5.1)`,
  HeaderValueError: (name: string, why: string) => `the value of the header "${name}" ${why}`,
  FramingHeaderError: (name: string, why: string) => `the header "${name}" cannot be set: ${why}`,
})

/** Headers that only the server can set, because they describe how the response is sent. */
const framing = new Map([
  // With a content-length next to it, two clients could read the response in two ways (RFC 9112 section 6.3).
  [
    'transfer-encoding',
    'the server itself sends bodies of unknown length in chunks. Leave the header out; res.stream sends a stream',
  ],
  ['trailer', 'a response cannot have headers after its body. Leave it out, and set the headers before the body'],
])

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const known = new Map<string, string>()

/** The lower-case form of a header name, checked once per spelling. */
function normalizeName(name: string): string {
  const normalized = known.get(name)
  if (normalized !== undefined) return normalized
  if (typeof name !== 'string' || !token.test(name)) throw HeaderNameError(String(name))
  const lower = name.toLowerCase()
  // Names may come from input; memory must not grow with it.
  if (known.size < 500) known.set(name, lower)
  return lower
}

const refused = /[^\t\x20-\x7e\x80-\xff]/

/** CR or LF would start a header of the attacker's choice; NUL and characters above U+00FF would be cut or mangled. */
function checkValue(name: string, value: string): string {
  const found = refused.exec(value)
  if (found !== null) {
    throw HeaderValueError(
      name,
      `has a ${found[0].charCodeAt(0) > 255 ? 'character above U+00FF' : 'control character'}. Encode it, with encodeURIComponent for example`,
    )
  }
  return value
}

/** Headers by which caches keep a response, some of them for one kind of cache (RFC 9111 section 3, RFC 9213 section 2). */
export const cachingHeaders = /^((.+-)?cache-control|surrogate-control|expires|etag|last-modified)$/

/** Headers that describe a body. */
const bodyHeaders =
  /^(content-(type|length|encoding|language|location|disposition|range)|accept-ranges|location|set-cookie)$/

/** The value that a header is set to; each element of a list becomes a line of its own. */
export type HeaderValue = string | number | readonly string[]

/** Headers that are the same on many responses, checked once; made by {@link presetHeaders}. */
export interface HeaderPreset {
  /** Names and values in turn, names in lower case. */
  readonly flat: readonly (string | readonly string[])[]
}

/**
 * Checks headers once, for `res.setHeaders`: a dozen of them then cost a tenth of a dozen calls of `setHeader`.
 *
 * @throws HeaderNameError, HeaderValueError as `setHeader` does.
 * @example
 * const security = presetHeaders({ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' })
 * ctx.use((req, res, next) => {
 *   res.setHeaders(security)
 *   return next()
 * })
 */
export function presetHeaders(headers: Readonly<Record<string, HeaderValue>>): HeaderPreset {
  const bag = new HeaderBag()
  for (const [name, value] of Object.entries(headers)) bag.set(name, value)
  return { flat: Object.entries(bag.all()).flat() }
}

/** Response headers: names in lower case, in the order in which they were set. */
export class HeaderBag {
  // Names and values in turn, as they are sent: a header costs two entries, and a whole reply one copy.
  readonly #flat: (string | readonly string[])[] = []
  #hasLists = false

  get(name: string): string | readonly string[] | undefined {
    const index = this.#indexOf(normalizeName(name))
    return index === -1 ? undefined : this.#flat[index + 1]
  }

  set(name: string, value: HeaderValue): void {
    const key = normalizeName(name)
    const refusal = framing.get(key)
    if (refusal !== undefined) throw FramingHeaderError(key, refusal)
    let checked: string | readonly string[]
    if (typeof value === 'string') checked = checkValue(key, value)
    else if (Array.isArray(value)) {
      checked = value.map((one) => checkValue(key, String(one)))
      this.#hasLists = true
    } else if (value === undefined || value === null || typeof value === 'object') {
      throw HeaderValueError(
        key,
        `is ${value ? 'an object' : value}: it takes a string, a number or a list of strings; removeHeader removes a header`,
      )
    } else checked = checkValue(key, String(value))
    const index = this.#indexOf(key)
    if (index === -1) this.#flat.push(key, checked)
    else this.#flat[index + 1] = checked
  }

  setAll({ flat }: HeaderPreset): void {
    const isFirst = this.#flat.length === 0
    for (let i = 0; i < flat.length; i += 2) {
      const name = flat[i] as string
      const value = flat[i + 1]!
      const index = isFirst ? -1 : this.#indexOf(name)
      if (index === -1) this.#flat.push(name, value)
      else this.#flat[index + 1] = value
      if (typeof value !== 'string') this.#hasLists = true
    }
  }

  /** Adds to the existing value: a further `set-cookie` line, a further member of a list for every other name. */
  append(name: string, value: string): void {
    const key = normalizeName(name)
    const all = [this.get(key) ?? [], value].flat()
    this.set(key, key === 'set-cookie' ? all : all.join(', '))
  }

  remove(name: string): void {
    const index = this.#indexOf(normalizeName(name))
    if (index !== -1) this.#flat.splice(index, 2)
  }

  /** Removes what describes a body, and lets it be kept: a response was taken back, and a failure may follow. */
  removeBody(): void {
    for (const name of Object.keys(this.all()))
      if (bodyHeaders.test(name) || cachingHeaders.test(name)) this.remove(name)
  }

  all(): Record<string, string | readonly string[]> {
    const all: Record<string, string | readonly string[]> = Object.create(null)
    for (let i = 0; i < this.#flat.length; i += 2) all[this.#flat[i] as string] = this.#flat[i + 1]!
    return all
  }

  /** A new flat array, `[name, value, …]`; the name is repeated for each value of a list. */
  flatten(): string[] {
    const flat = this.#flat
    if (!this.#hasLists) return flat.slice() as string[]
    const expanded: string[] = []
    for (let i = 0; i < flat.length; i += 2) {
      const name = flat[i] as string
      const value = flat[i + 1]!
      if (typeof value === 'string') expanded.push(name, value)
      else for (const one of value) expanded.push(name, one)
    }
    return expanded
  }

  #indexOf(key: string): number {
    const flat = this.#flat
    for (let i = 0; i < flat.length; i += 2) if (flat[i] === key) return i
    return -1
  }
}

/** Encodes the characters that a header cannot contain, and keeps existing escapes. */
export function encodeLocation(url: string): string {
  if (typeof url !== 'string') throw new TypeError('res.redirect takes the URL as a string')
  // Half a surrogate pair would make the encoder throw.
  return url.replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()))
}

/** The media type of a body without a type of its own, by its kind. */
export const defaultTypes = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
  stream: 'application/octet-stream',
} as const
