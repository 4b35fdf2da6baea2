import { createHash } from 'node:crypto'
import type { Request } from '../../kernel/index.ts'
import type { RouteSettings } from './options.ts'

/** The longest query that a key has unhashed. */
const longestQuery = 512

function encode(text: string): string {
  // A lone surrogate would throw; it cannot come over a wire, but `include.key` may give one.
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/** One spelling of a name or a value; a malformed one stays as it came, and so equals no other spelling. */
function canonicalPart(raw: string): string {
  try {
    return encode(decodeURIComponent(raw.replaceAll('+', ' ')))
  } catch {
    return raw
  }
}

/**
 * `a=1&b=2`: sorted by name and encoded in one way, so that order and spelling of escapes do not matter.
 *
 * As it came and not as `req.query` has it: `__proto__` is missing there, but a handler that reads `req.url` sees it, and a link
 * of an attacker would be in the answers to all clients.
 */
function canonicalQuery(raw: string): string {
  const pairs: (readonly [name: string, value: string])[] = []
  for (const pair of raw.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const split = equals === -1 ? pair.length : equals
    pairs.push([canonicalPart(pair.slice(0, split)), canonicalPart(pair.slice(split + 1))])
  }
  return pairs
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/**
 * Plain data as a string that is the same for equal data only; `undefined` for anything else.
 *
 * `JSON.stringify` alone would write every Map as `{}`, and two bodies would share an answer.
 */
export function plainText(value: unknown): string | undefined {
  if (value === undefined) return ''
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Date) return `@${value.getTime()}`
  if (typeof value !== 'object') return undefined
  if (Array.isArray(value)) return join('[', value.map(plainText), ']')
  const prototype = Object.getPrototypeOf(value) as unknown
  if (prototype !== null && prototype !== Object.prototype) return undefined
  const members = value as { readonly [name: string]: unknown }
  const texts = Object.keys(members)
    .sort()
    .map((name) => {
      const text = plainText(members[name])
      return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`
    })
  return join('{', texts, '}')
}

function join(open: string, texts: readonly (string | undefined)[], close: string): string | undefined {
  return texts.includes(undefined) ? undefined : open + texts.join(',') + close
}

/** Whether the body has more than `req.body` shows: one that no parser read, or a form with files. */
function isPartlyUnseen(req: Partial<Pick<Request, 'files'>> & Request): boolean {
  return req.raw.hasBody && (req.body === undefined || (req.files !== undefined && req.files.length > 0))
}

/**
 * The body as a part of the key, with the result of the schema `all`, which includes headers. `undefined` where it cannot
 * be one: it is not plain data, or not all of it is visible.
 */
function bodyPart(req: Request & { validated?: unknown }): string | undefined {
  if (isPartlyUnseen(req)) return undefined
  const body = plainText(req.body)
  const validated = plainText(req.validated)
  if (body === undefined || validated === undefined) return undefined
  return `&body:${hash(validated === '' ? body : `${body}\n${validated}`)}`
}

/**
 * The key of a request: `cache:<METHOD>:<path>?<query>`, then `#` and everything else that distinguishes answers.
 *
 * The key always has host and scheme: a handler may write them into its answer, and a client that can send any `Host` could
 * otherwise fill the cache with links to a host of its own. The values between them have no `#` and `&`, so that two
 * requests never share a key. `undefined` when the request has no key: its body is not plain data, or not all of it, or it has
 * one and the route does not name it. A GET may have a body, which parsers read and handlers see: an attacker's content
 * would be in the answers to all clients.
 */
export function keyMaker(route: RouteSettings, method: string): (req: Request) => string | undefined {
  // HEAD is answered with the entry of GET.
  const prefix = `cache:${method === 'HEAD' ? 'GET' : method}:`
  return (req) => {
    if (!route.body && req.raw.hasBody) return undefined
    const { host } = req.raw
    let key = `${prefix}${req.path}`
    const { url } = req
    const mark = url.indexOf('?')
    if (mark !== -1) {
      const query = canonicalQuery(url.slice(mark + 1))
      if (query !== '') key += query.length > longestQuery ? `?~${hash(query)}` : `?${query}`
    }
    key += `#${req.protocol}://${host === undefined ? '' : host.toLowerCase()}`
    for (const name of route.headers) {
      const value = req.raw.header(name)
      key += value === undefined ? `&-${name}` : `&${name}=${encode(value)}`
    }
    if (route.body) {
      const body = bodyPart(req)
      if (body === undefined) return undefined
      key += body
    }
    return route.key === undefined ? key : `${key}&key:${encode(String(route.key(req)))}`
  }
}
