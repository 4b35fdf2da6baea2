import { createHash } from 'node:crypto'
import type { Request } from '../../kernel/index.ts'
import { safely } from '../shared/values/safely.ts'
import { nameInTenant } from '../shared/values/tenants.ts'
import type { RouteSettings } from './options.ts'

/** The longest query that a key contains unhashed, in characters. */
const longestQuery = 512

function encode(text: string): string {
  // A lone surrogate would throw. It cannot arrive over the network, but `include.key` may return one.
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/** The canonical spelling of a name or a value; a malformed one stays as received, and so equals no other spelling. */
const canonicalPart = (raw: string): string => safely(() => encode(decodeURIComponent(raw.replaceAll('+', ' '))), raw)

/**
 * Returns the query as `a=1&b=2`, sorted by name and encoded uniformly, so that order and spelling of escapes do not matter.
 *
 * Reads the raw query rather than `req.query`, which lacks `__proto__`: a handler that reads `req.url` sees it, and a link of an
 * attacker would end up in the responses to all clients.
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
 * Returns plain data as a string that is the same only for equal data; `undefined` for anything else.
 *
 * `JSON.stringify` alone would write every Map as `{}`, and two bodies would share a response.
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

const join = (open: string, texts: readonly (string | undefined)[], close: string): string | undefined =>
  texts.includes(undefined) ? undefined : open + texts.join(',') + close

/** Whether the body contains more than `req.body` shows: no parser has read it, or it is a form with files. */
const isPartlyUnseen = (req: Partial<Pick<Request, 'files'>> & Request): boolean =>
  req.raw.hasBody && (req.body === undefined || (req.files !== undefined && req.files.length > 0))

/**
 * Returns the body as a part of the key, with the result of the schema `all`, which includes headers. `undefined` if the body
 * cannot be part of a key: it is not plain data, or not all of it is visible.
 */
function bodyPart(req: Request & { validated?: unknown }): string | undefined {
  if (isPartlyUnseen(req)) return undefined
  const body = plainText(req.body)
  const validated = plainText(req.validated)
  if (body === undefined || validated === undefined) return undefined
  return `&body:${hash(validated === '' ? body : `${body}\n${validated}`)}`
}

/**
 * Makes the key of a request: `cache:<METHOD>:<path>?<query>`, then `#` and everything else that distinguishes responses.
 *
 * The key always contains host and scheme: a handler may write them into its response, and a client can send any `Host`, so it could
 * otherwise fill the cache with links to a host of its own. Values in the key contain no `#` or `&`, so two different requests never
 * share a key. The result is `undefined` when the request has no key: its body is not, or not entirely, plain data, or it has a body
 * that the route does not include. Even a GET may have a body, which parsers read and handlers see: without this rule, an attacker's
 * content would be in the responses to all clients.
 */
export function keyMaker(route: RouteSettings, method: string): (req: Request) => string | undefined {
  // A HEAD request gets the entry of GET.
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
    key += `#${nameInTenant(`${req.protocol}://${host === undefined ? '' : host.toLowerCase()}`)}`
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
