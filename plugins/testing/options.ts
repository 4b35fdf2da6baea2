import { ArgumentsError } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'

/** One value in a query or a form; `undefined` leaves it out, a list repeats the name. */
export type MockValue = string | number | boolean | null | undefined | readonly (string | number | boolean)[]

/** A query or an urlencoded form as plain data. */
export type MockQuery = { readonly [name: string]: MockValue }

/** One part of a multipart form; a `File` has its own name and type. */
export type MockPart = MockValue | Blob | readonly (string | number | boolean | Blob)[]

/** The parts of a request, with at most one of `body`, `formData` and `urlencoded`. */
export interface MockOptions<Body = unknown, Query extends object = MockQuery> {
  /**
   * The body, sent as JSON; a string, bytes and streams are sent as they are. The content type is JSON for data and strings, and
   * `application/octet-stream` for bytes and streams, unless `headers` has one.
   */
  body?: Body
  /** A form that is sent as `multipart/form-data`: web `FormData`, or names with values and files. */
  formData?: FormData | { readonly [name: string]: MockPart }
  /** A form that is sent as `application/x-www-form-urlencoded`. */
  urlencoded?: string | URLSearchParams | MockQuery
  /** Headers of the request, with names in any case. */
  headers?: { readonly [name: string]: string | number | readonly string[] | undefined }
  /** The query; overrides parameters with the same names in the path. */
  query?: Query
  /** Cookies by name, sent as the `Cookie` header, percent-encoded where necessary. */
  cookies?: { readonly [name: string]: string }
  /** The address of the client. Default `127.0.0.1`. */
  ip?: string
  /** A signal that makes the client disconnect when it aborts. */
  signal?: AbortSignal
}

const anything = option.value<unknown>('anything')
const named = option.value<object>('an object', (given) => typeof given === 'object' && given !== null)

/** The checks of the options that requests and websockets have. */
export const common = {
  headers: named,
  query: named,
  cookies: named,
  // Not every runtime knows the address of every peer.
  ip: option.value<string>('an address, or an empty string if it is unknown', (given) => typeof given === 'string'),
}

/** The check of the options; the types of bodies are distinguished where they are written. */
export const mockOptions = option
  .shape({
    body: anything,
    formData: anything,
    urlencoded: anything,
    ...common,
    signal: option.value<AbortSignal>('an AbortSignal', (given) => given instanceof AbortSignal),
  })
  .into((given) => given as MockOptions<unknown, object>)
  .typed<MockOptions<unknown, object>>()

/** A path with a query, whose names replace those in the path. `call` is an example, for the error about another path. */
export function urlOf(path: string, query: object | undefined, call: string): string {
  // A client would also refuse such a path; sent as it is, it would make a request that no client makes.
  if (typeof path !== 'string' || !/^(?:\/|https?:)/.test(path))
    throw ArgumentsError(call.slice(0, call.indexOf('(')), `a path that begins with "/": ${call}`)
  if (query === undefined) return path
  const [target = ''] = path.split('#')
  const at = target.indexOf('?')
  const merged = new URLSearchParams(at === -1 ? '' : target.slice(at + 1))
  for (const name of Object.keys(query)) merged.delete(name)
  appendValues(merged, query)
  const text = merged.toString()
  const base = at === -1 ? target : target.slice(0, at)
  return text === '' ? base : `${base}?${text}`
}

/** Writes names and values of plain data into search parameters or a form, which alone has files. */
export function appendValues<Target extends URLSearchParams | FormData>(target: Target, values: object): Target {
  for (const [name, value] of Object.entries(values) as [string, unknown][]) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value])
      target.append(name, (one instanceof Blob ? one : String(one)) as string)
  }
  return target
}

const cookieName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Everything but the octets of RFC 6265 section 4.1.1, and also `%`, since readers of cookies decode it.
const notCookieOctet = /[^\x21\x23\x24\x26-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]/gu

/** The value of a `Cookie` header. */
export function cookieHeader(cookies: { readonly [name: string]: string }): string {
  return Object.entries(cookies)
    .map(([name, value]) => {
      if (!cookieName.test(name)) throw new TypeError(`${JSON.stringify(name)} is not a cookie name`)
      return `${name}=${String(value).replace(notCookieOctet, encodeURIComponent)}`
    })
    .join('; ')
}
