import type { Request, Response } from '../../kernel/index.ts'
import { varyingBy } from '../shared/http/client-specific.ts'
import { type KeptHeaders, keptHeaders, namesIn } from '../shared/http/kept-headers.ts'
import { entityTag } from '../shared/http/validators.ts'
import { safely } from '../shared/values/safely.ts'

/** One stored response, of which a replay sends the same bytes; or data, whose body is JSON, or empty for `undefined`. */
export interface Entry {
  readonly status: number
  /** The headers that the handler itself set or removed, and the content type. */
  readonly headers: KeptHeaders
  readonly body: string | Uint8Array | null
  /** Of data: when it has to be renewed, in milliseconds since 1970. */
  readonly freshUntil?: number
}

type Headers = ReturnType<Response['getHeaders']>

/** Whether a cache may keep a response with these headers of its own for other clients (RFC 9111 section 3). */
function mayBeShared(own: KeptHeaders, { vary: there = '' }: Headers, keyHeaders: readonly string[]): boolean {
  const { 'set-cookie': cookie, vary } = Object.fromEntries(own)
  // A response that varies by a header is only for clients that send the same value, so the header must be part of the key.
  const known = [...keyHeaders, ...namesIn(String(there).toLowerCase())]
  return !cookie && namesIn(vary ?? '').every((name) => known.includes(name.toLowerCase()))
}

/** Whether `Cache-Control` restricts it to one client: a middleware that authenticates may have set that before the handler responds. */
const isForOne = (headers: Headers): boolean =>
  /(?:^|[\s,])(?:no-store|private)(?:$|[\s,=])/i.test(String(headers['cache-control'] ?? ''))

/**
 * The part of a response that may be kept. `undefined` if it is not a success, is only a part (206) or a stream, or is for one client.
 *
 * `before` contains the headers that were already set when the handler was called. They belong to the request, such as
 * those of cors, and every replay sets its own. A session that was read sets `Vary` only when the response is sent, so it is added here.
 */
export function entryOf(req: Request, res: Response, before: Headers, keyed: readonly string[]): Entry | undefined {
  const status = res.statusCode
  if (status < 200 || status > 299 || status === 206) return undefined
  const body = res.encode()
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) return undefined
  const headers = res.getHeaders()
  if (isForOne(headers)) return undefined
  const own = [...keptHeaders(res, before)]
  if (!mayBeShared(own, before, keyed)) return undefined
  if (headers.etag === undefined && body !== null) {
    const tag = entityTag(body)
    res.setHeader('etag', tag)
    own.push(['etag', tag])
  }
  const varies = varyingBy(req)
  if (varies !== undefined) own.push(['vary', varies])
  // A copy, since the buffer of a view may be changed later.
  return { status, headers: own, body: body instanceof Uint8Array ? body.slice() : body }
}

/** The approximate size of an entry in memory, in bytes: two per character of a string, plus the objects around them. */
export function sizeOf(key: string, entry: Entry): number {
  const body = entry.body === null ? 0 : typeof entry.body === 'string' ? entry.body.length * 2 : entry.body.byteLength
  const headers = entry.headers.reduce((sum, [name, value]) => sum + (name.length + String(value).length) * 2 + 64, 0)
  return body + headers + key.length * 2 + 400
}

/** Encodes an entry as bytes: the head as JSON, which has no line breaks, a line break, the body. */
export function encodeEntry(entry: Entry): Buffer {
  const kind = entry.body === null ? 'none' : typeof entry.body === 'string' ? 'text' : 'bytes'
  const head = Buffer.from(`${JSON.stringify({ ...entry, body: undefined, kind })}\n`)
  return entry.body === null ? head : Buffer.concat([head, Buffer.from(entry.body as string)])
}

/** Decodes such bytes; `undefined` for bytes that an older version or another program has stored. */
export function decodeEntry(bytes: Buffer): Entry | undefined {
  return safely(() => {
    const end = bytes.indexOf(10)
    const { kind, ...head } = JSON.parse(bytes.toString('utf8', 0, end)) as Omit<Entry, 'body'> & { kind: string }
    if (typeof head.status !== 'number' || !Array.isArray(head.headers)) return undefined
    const body = kind === 'none' ? null : kind === 'text' ? bytes.toString('utf8', end + 1) : bytes.subarray(end + 1)
    return { ...head, body }
  })
}
