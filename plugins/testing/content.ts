import { mediaTypeOf } from '../shared/http/media-type.ts'
import { orFail, safely } from '../shared/values/safely.ts'

/** The headers by name; looking one up ignores case. */
export type MockHeaders = { readonly [name: string]: string | readonly string[] | undefined }

/** A plain object with lower-case keys, whose members can also be read with other spellings. */
export function caseless(headers: Readonly<Record<string, string | readonly string[]>>): MockHeaders {
  const own: Record<string, string | readonly string[]> = { ...headers }
  const find = (key: string) => (Object.hasOwn(own, key.toLowerCase()) ? key.toLowerCase() : key)
  return new Proxy<MockHeaders>(own, {
    get: (target, key) => Reflect.get(target, typeof key === 'string' ? find(key) : key) as unknown,
    has: (target, key) => Reflect.has(target, typeof key === 'string' ? find(key) : key),
  })
}

/** Decodes the bytes of a body, whatever its type. */
export const utf8 = new TextDecoder()

/** A body in the form of its content type: parsed JSON, text as a string, everything else as bytes; `undefined` if it is empty. */
export function bodyOf(bytes: Uint8Array, contentType: string): unknown {
  if (bytes.byteLength === 0) return undefined
  const type = mediaTypeOf(contentType)
  if (type === 'application/json' || type.endsWith('+json')) {
    const text = utf8.decode(bytes)
    return orFail(
      (): unknown => JSON.parse(text),
      () => new Error(`the content type of the response is ${type}, but the body is not: ${shorten(text)}`),
    )
  }
  const isText = /^text\/|\+xml$|^application\/(?:xml|yaml|javascript|x-www-form-urlencoded)$/.test(type)
  return isText ? utf8.decode(bytes) : bytes
}

/** The beginning of a string, for a message. */
export function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text
}

/** A value, for a message. */
export const show = (value: unknown): string =>
  value instanceof RegExp ? String(value) : shorten(JSON.stringify(value) ?? String(value))

/** One `Set-Cookie` line, parsed. */
export interface MockCookie {
  /** The name as it is in the header. */
  readonly name: string
  /** The value, percent-decoded. */
  readonly value: string
  /** The attributes, with lower-case names; one without a value, such as `httponly`, is `true`. */
  readonly attributes: { readonly [name: string]: string | true | undefined }
}

export function parseSetCookie(line: string): MockCookie {
  const [pair = '', ...rest] = line.split(';')
  const [name, value] = splitPair(pair)
  const attributes: Record<string, string | true> = {}
  for (const attribute of rest) {
    const [key, text] = splitPair(attribute)
    attributes[key.toLowerCase()] = text === undefined ? true : text
  }
  return { name, value: decode(value ?? ''), attributes }
}

function splitPair(pair: string): [name: string, value: string | undefined] {
  const at = pair.indexOf('=')
  return at === -1 ? [pair.trim(), undefined] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
}

function decode(value: string): string {
  const bare = value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value
  return safely(() => decodeURIComponent(bare), bare)
}
