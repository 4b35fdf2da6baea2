import { UpgradeRequiredError } from '../../support/errors.ts'
import { isPromise } from '../../support/within.ts'
import type { Reply, StreamBody, TakeOver } from '../raw.ts'
import type { KernelRequest } from '../request/request.ts'
import { disposeStream, holdStream, isStream } from '../streams.ts'
import { defaultTypes, encodeLocation, HeaderBag, type HeaderPreset, type HeaderValue } from './headers.ts'
import type { FileOptions, Response, SseMessage } from './response.ts'
import { redirects, statuses } from './statuses.ts'

/** What kind of body was given. */
export type BodyKind = 'none' | 'empty' | 'json' | 'text' | 'bytes' | 'stream' | 'takeOver'

/** The bodies that are more than JSON, strings, bytes and streams. The kernel receives it. */
export interface Bodies {
  /** The media type for a short form: `application/json; charset=utf-8` for `json`. */
  mediaType(short: string): string
  /** Sends an object of the web platform, such as a `Response` or a form; returns `false` for any other object, which becomes JSON. */
  sendObject(res: KernelResponse, body: object, status: number): boolean
  /** Releases a value that a handler returned and that is not sent, because there is already a response. */
  discard(value: unknown, res: KernelResponse): void
  /** Sends a file, unless another response was given before it is open. Rejects with a FileNotFoundError where there is none. */
  sendFile<Res extends KernelResponse>(res: Res, path: string, options?: FileOptions): Promise<Res>
  /** Sends bytes or a file as a download; the arguments are those of `res.download`. */
  download<Res extends KernelResponse>(res: Res, body: string | Uint8Array, ...more: DownloadOptions): Promise<Res>
  /** Sends server-sent events. */
  sendEvents<Res extends KernelResponse>(res: Res, events: AsyncIterable<string | SseMessage>): Res
}

/** The name of a download, its options, or both. */
export type DownloadOptions = [filename?: string | FileOptions, options?: FileOptions]

let scratch: Buffer | undefined

/** The length of a string in bytes. Until Node.js 24, writing a long one takes a seventh of the time of measuring it: 2.5 µs for 128 kB in place of 18. */
export function utf8Length(text: string): number {
  if (text.length < 16_384 || text.length > 1_048_576) return Buffer.byteLength(text)
  if (scratch === undefined || scratch.length < 3 * text.length) scratch = Buffer.allocUnsafeSlow(3 * text.length)
  return scratch.write(text)
}

// Not a member of the response: a plugin could decorate it with that name.
export const bodiesOf = (res: KernelResponse): Bodies => res.request.server.settings.bodies

export interface KernelResponse extends Response {}

/** The implementation of {@link Response}: a buffer that `reply.ts` turns into the reply. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the shorthands are made from one table, merged members arrive by decorate
export class KernelResponse {
  readonly request: KernelRequest
  kind: BodyKind = 'none'
  payload: unknown = undefined
  code = 0
  /** Whether the application has not answered, so that the response is empty; and whether the response has left. */
  isDefault = false
  sent = false
  aborted = false
  /** When the request arrived, and the body that has left, where hooks need them. */
  started = 0
  left: Reply['body'] | undefined = undefined
  /** Whether this answers a failure already. */
  failed = false
  /** Why the body could not be written. */
  unencodable: unknown = undefined
  /** A file that is being opened: the response waits for it, even where the handler does not. */
  opening: Promise<unknown> | undefined = undefined
  /** Called once when a response is given; for a middleware that answers after it has returned. */
  onAnswer: (() => void) | undefined = undefined
  headersIfAny: HeaderBag | undefined = undefined
  /** The response that late code of a request that was given up has; missing on any other. */
  declare origin?: KernelResponse

  constructor(request: KernelRequest) {
    this.request = request
  }

  get answered(): boolean {
    return this.kind !== 'none'
  }

  get statusCode(): number {
    return this.code === 0 ? 200 : this.code
  }

  get bodySize(): number | undefined {
    const { left } = this
    if (typeof left === 'string') return utf8Length(left)
    if (left === null || left instanceof Uint8Array) return left?.byteLength ?? 0
    const declared = left && this.headersIfAny?.get('content-length')
    return typeof declared === 'string' && /^\d+$/.test(declared) ? Number(declared) : undefined
  }

  status(code: number): this {
    if (!Number.isInteger(code) || code < 200 || code > 599) {
      throw new RangeError(`res.status(${String(code)}): a status is a whole number from 200 to 599`)
    }
    // A second response must not change the status of the first one.
    if (this.kind === 'none') this.code = code
    return this
  }

  /** The one place where a response is accepted. */
  answer(kind: BodyKind, payload: unknown, status = 0): this {
    if (kind === 'stream') holdStream(payload as StreamBody)
    if (this.kind !== 'none') {
      // It will not be read, and a file would stay open.
      if (kind === 'stream' && payload !== this.payload) disposeStream(payload as StreamBody)
      if (!this.request.givenUp) warnOfSecondAnswer(this)
      return this
    }
    if (status !== 0) this.code = status
    this.kind = kind
    this.payload = payload
    this.onAnswer?.()
    return this
  }

  get headers(): HeaderBag {
    this.headersIfAny ??= new HeaderBag()
    return this.headersIfAny
  }

  /**
   * Continues a request that was given up: the handler still runs, keeps this object, and what it sets from now on is lost. Hooks that
   * wait would otherwise send it: a `set-cookie` for one client with the `cache-control` of a page for all.
   */
  succeed(): KernelResponse {
    const next = Object.assign(new (this.constructor as typeof KernelResponse)(this.request), this)
    next.origin ??= this
    // What a middleware sees is not a success, which a cache would keep.
    Object.assign(this, { headersIfAny: undefined, kind: 'empty', code: 503 })
    return next
  }

  /** Takes back the response and the headers that describe its body; headers about the connection and the origin stay. */
  reset(): void {
    if (this.kind === 'stream') disposeStream(this.payload as StreamBody)
    this.kind = 'none'
    this.isDefault = false
    this.payload = undefined
    this.unencodable = undefined
    this.opening = undefined
    this.code = 0
    this.headersIfAny?.removeBody()
  }

  setHeader(name: string, value: HeaderValue): this {
    this.headers.set(name, value)
    return this
  }

  setHeaders(preset: HeaderPreset): this {
    this.headers.setAll(preset)
    return this
  }

  header(name: string, value: HeaderValue): this {
    return this.setHeader(name, value)
  }

  getHeader(name: string): string | readonly string[] | undefined {
    return this.headersIfAny?.get(name)
  }

  getHeaders(): Record<string, string | readonly string[]> {
    return this.headersIfAny?.all() ?? Object.create(null)
  }

  removeHeader(name: string): this {
    this.headersIfAny?.remove(name)
    return this
  }

  appendHeader(name: string, value: string): this {
    this.headers.append(name, value)
    return this
  }

  vary(...names: string[]): this {
    const said = this.headers.get('vary')
    // Most responses have one name: splitting lists costs 0.3 µs.
    if (said === undefined && names.length === 1) return this.setHeader('vary', names[0]!)
    const listed = `${said ?? ''}`.toLowerCase().split(/, */)
    if (listed.includes('*')) return this
    for (const name of names) if (!listed.includes(name.toLowerCase())) this.headers.append('vary', name)
    return this
  }

  type(type: string): this {
    return this.setHeader('content-type', bodiesOf(this).mediaType(type))
  }

  json(body?: unknown): this {
    return this.answer(body === undefined ? 'empty' : 'json', body)
  }

  send(body?: unknown): this {
    return this.sendWith(body, 0)
  }

  /** Sends the body by its type, with `status` unless that is 0. */
  sendWith(body: unknown, status: number): this {
    if (body === undefined) return this.answer('empty', undefined, status)
    if (typeof body !== 'object' || body === null) return this.answer('json', body, status)
    if (body instanceof Uint8Array) return this.answer('bytes', body, status)
    if (isStream(body)) return this.answer('stream', body, status)
    if (Symbol.toStringTag in body && bodiesOf(this).sendObject(this, body, status)) return this
    return this.answer('json', body, status)
  }

  text(body: string): this {
    if (this.kind === 'none' && this.getHeader('content-type') === undefined) this.type('text')
    return this.answer('text', String(body))
  }

  html(body: string): this {
    if (this.kind === 'none' && this.getHeader('content-type') === undefined) this.type('html')
    return this.answer('text', String(body))
  }

  bytes(body: Uint8Array): this {
    if (!(body instanceof Uint8Array)) throw new TypeError('res.bytes takes a Uint8Array; res.text sends a string')
    return this.answer('bytes', body)
  }

  stream(body: StreamBody): this {
    if (!isStream(body)) throw new TypeError('res.stream takes a ReadableStream, a Readable or an async iterable')
    return this.answer('stream', body)
  }

  sse(events: AsyncIterable<string | SseMessage>): this {
    return bodiesOf(this).sendEvents(this, events)
  }

  file(path: string, options?: FileOptions): Promise<this> {
    const opening = bodiesOf(this).sendFile(this, path, options)
    // The handler may not await it: the chain then throws its failure.
    opening.catch(() => this.onAnswer?.())
    this.opening = opening
    return opening
  }

  download(pathOrBytes: string | Uint8Array, ...more: DownloadOptions): Promise<this> {
    return bodiesOf(this).download(this, pathOrBytes, ...more)
  }

  encode(): string | Uint8Array | StreamBody | null {
    if (this.kind === 'none' || this.kind === 'empty' || this.kind === 'takeOver') return null
    if (this.getHeader('content-type') === undefined) this.setHeader('content-type', defaultTypes[this.kind])
    if (this.kind === 'json') {
      this.payload = this.writeJson()
      this.kind = 'text'
    }
    return this.payload as string | Uint8Array | StreamBody
  }

  /** The one place where a response becomes JSON. */
  writeJson(): string {
    try {
      return this.request.compiled.serialize(this.payload, this.statusCode)
    } catch (error) {
      this.unencodable = error
      throw error
    }
  }

  replaceBody(body: string | Uint8Array | StreamBody): this {
    if (this.kind === 'takeOver') throw new TypeError('res.replaceBody: an upgrade has no body')
    this.kind = typeof body === 'string' ? 'text' : body instanceof Uint8Array ? 'bytes' : 'stream'
    this.payload = body
    if (this.kind === 'stream') holdStream(body as StreamBody)
    return this
  }

  redirect(url: string, status: 301 | 302 | 303 | 307 | 308 = 302): this {
    if (!redirects.includes(status)) throw new RangeError(`res.redirect takes the status ${redirects.join(', ')}`)
    if (this.kind === 'none') this.setHeader('location', encodeLocation(url))
    return this.answer('empty', undefined, status)
  }

  noContent(): this {
    return this.answer('empty', undefined, 204)
  }

  upgrade(takeOver: TakeOver): this {
    if (this.request.raw.upgrade === undefined)
      throw UpgradeRequiredError('the request does not ask for a protocol that a plugin has announced by ctx.upgrades')
    return this.answer('takeOver', takeOver, 101)
  }
}

for (const [name, status] of Object.entries(statuses)) {
  const value = function (this: KernelResponse, body?: unknown) {
    return this.sendWith(body, status)
  }
  Object.defineProperty(value, 'name', { value: name })
  Object.defineProperty(KernelResponse.prototype, name, { value, writable: true, configurable: true })
}

/**
 * Continues when a function that may respond has ended, at once if nothing has to be waited for. A file that it opens is its
 * response, even where it does not wait for it.
 */
export function afterwards<T>(given: Response, run: () => unknown, then: (value: unknown) => T): T | Promise<T> {
  // Every response is a KernelResponse.
  const res = given as KernelResponse
  res.opening = undefined
  const result = run()
  if (!isPromise(result) && res.opening === undefined) return then(result)
  return Promise.resolve(result).then(async (value) => {
    if (!res.answered) await res.opening
    return then(value)
  })
}

/** Reports a response that comes after another one, and what to do about it. */
function warnOfSecondAnswer(res: KernelResponse): void {
  const { request, statusCode, isDefault, sent } = res
  const route = `${request.method} ${request.route ?? request.path}`
  const why =
    isDefault && sent
      ? `answered too late: ${route} had already returned without a value, so an empty response was sent. Return a promise that settles when the response is ready`
      : `answered twice: ${route} keeps its first response (${statusCode}); return after answering`
  request.log.warn({ route }, why)
}
