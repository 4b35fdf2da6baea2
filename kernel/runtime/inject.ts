import type { RawRequest, Reply, StreamBody } from '../http/raw.ts'
import { ArgumentsError, BadRequestError, type FrameworkError } from '../support/errors.ts'
import type { LifeState } from '../support/life-state.ts'
import { didYouMean } from '../support/nearest.ts'
import type { RequestHandler } from './adapter.ts'
import { collected, refuseLength } from './body-limit.ts'
import { BodyReadError, hostFor } from './head.ts'
import { declaredLength } from './sending.ts'
import { webStream } from './web/fetch-body.ts'

/** A request that is sent without a socket. */
export interface InjectRequest {
  /** The method. Default `GET`. */
  method?: string
  /** Path and query, or an absolute URL. */
  url: string
  /** The headers by name, in any case; a list of values is joined. */
  headers?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  /** The body as it would be sent; a string is sent as UTF-8, and no `content-type` is added. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** The address of the client; default `127.0.0.1`. */
  ip?: string
  /** A signal that makes the client disconnect when it aborts; a streamed response then ends, and the promise rejects with the signal's reason. */
  signal?: AbortSignal
  /** The other end for a protocol that takes over the connection; the plugin of that protocol defines its type. */
  peer?: unknown
}

/** The response as it would have been sent: the headers and all bytes. */
export interface InjectResponse {
  /** The status of the response. */
  readonly status: number
  /** The headers, with lower-case names; `set-cookie` is always a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** All bytes of the body, including those of a stream; empty without a body. */
  readonly body: Uint8Array
}

class InjectRaw implements RawRequest {
  readonly method: string
  readonly target: string
  readonly host: string | undefined
  readonly hostOptional = true
  readonly secure: boolean
  readonly ip: string
  readonly hasBody: boolean
  readonly isReceiving = false
  readonly upgrade: string | undefined
  readonly #headers: Record<string, string>
  readonly #request: InjectRequest
  readonly #onReply: (reply: Reply) => void
  /** Callbacks for the end of the request; `undefined` after it. */
  #waiting: (() => void)[] | undefined = []
  #isRead = false

  constructor(request: InjectRequest, onReply: (reply: Reply) => void) {
    this.method = request.method ?? 'GET'
    this.target = request.url
    this.secure = request.url.startsWith('https:')
    this.ip = request.ip ?? '127.0.0.1'
    this.#headers = lowerCase(request.headers)
    this.#headers.host ??= authorityOf(request.url)
    this.host = hostFor(request.url, this.#headers.host, true)
    if (typeof request.body === 'string' || request.body instanceof Uint8Array) {
      this.#headers['content-length'] ??= String(Buffer.byteLength(request.body))
    }
    const length = this.#headers['content-length']
    // As over a socket, an empty body does not count, while a stream counts until it has ended.
    this.hasBody = length === undefined ? request.body !== undefined : Number(length) !== 0
    if (request.peer !== undefined) this.upgrade = this.#headers.upgrade?.toLowerCase()
    this.#request = request
    this.#onReply = onReply
  }

  header(name: string): string | undefined {
    return this.#headers[name]
  }

  headers(): Record<string, string> {
    return Object.assign(Object.create(null), this.#headers) as Record<string, string>
  }

  bytes(limit: number): Promise<Uint8Array> {
    const { body, signal } = this.#request
    const mistake = refuseLength(this.#headers['content-length'], limit)
    if (mistake !== undefined) return Promise.reject(mistake)
    // A body that is there as a whole takes a third of the promises without its parts.
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) return collected(this.#parts(), limit)
    if (this.#isRead) return Promise.reject(BodyReadError())
    this.#isRead = true
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    // Measured, whatever content-length claims.
    const late = refuseLength(bytes.byteLength, limit) ?? (signal?.aborted ? left() : undefined)
    return late === undefined ? Promise.resolve(bytes) : Promise.reject(late)
  }

  stream(): AsyncGenerator<Uint8Array> {
    return this.#parts()
  }

  // Not `stream`, which a tool may replace, as `bytes`, to keep what passes: it would keep all of it twice.
  async *#parts(): AsyncGenerator<Uint8Array> {
    if (this.#isRead) throw BodyReadError()
    this.#isRead = true
    const { body = [], signal } = this.#request
    for await (const part of typeof body === 'string' || body instanceof Uint8Array ? [body] : body) {
      if (signal?.aborted) throw left()
      yield typeof part === 'string' ? Buffer.from(part) : part
    }
  }

  onAbort(listener: () => void): void {
    if (this.#request.signal?.aborted) listener()
    else this.#request.signal?.addEventListener('abort', listener, { once: true })
  }

  onSettled(listener: () => void, always?: boolean): void {
    if (always) this.onAbort(() => this.settle())
    if (this.#waiting?.push(listener) === undefined) listener()
  }

  /** Called when all bytes of the response have arrived, or it broke off. */
  settle(): void {
    for (const listener of this.#waiting ?? []) listener()
    this.#waiting = undefined
  }

  refusal(): FrameworkError | undefined {
    return undefined
  }

  hangUp(): void {}

  respond(reply: Reply): boolean {
    this.#onReply(reply)
    return this.#request.signal?.aborted !== true
  }
}

const left = () => BadRequestError('the client disconnected before the body was complete')

function lowerCase(headers: InjectRequest['headers']): Record<string, string> {
  const lower: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined) lower[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return lower
}

function authorityOf(url: string): string {
  // Nearly every test requests just a path.
  if (url.startsWith('/')) return 'localhost'
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? 'localhost'
}

/** The part of the server's life that `inject` needs. */
interface Life {
  /** @throws when the server was closed. */
  mustBeOpen(): void
  ready(): Promise<void>
}

/** A function that sends requests through the pipeline in process; the first one boots the server. */
export function injector(
  handler: RequestHandler,
  life: Life,
  state: Readonly<LifeState>,
): (request: InjectRequest) => Promise<InjectResponse> {
  let booted = false
  const boot = async (request: InjectRequest) => {
    life.mustBeOpen()
    await life.ready()
    booted = true
    return injectInto(handler, request, state.streams)
  }
  return (request, ...more: unknown[]) => {
    const mistake = injectMistake(request, more[0])
    if (mistake !== undefined) return Promise.reject(mistake)
    return booted && !state.closed ? injectInto(handler, request, state.streams) : boot(request)
  }
}

/**
 * Rejects only when a streamed response breaks off, its client leaves or the server is closed.
 *
 * The bytes of every other response are made immediately, so that a request costs only this one promise: with the four promises of two
 * async functions, a GET cost 1.5 times as much.
 */
function injectInto(
  handler: RequestHandler,
  request: InjectRequest,
  streams: LifeState['streams'],
): Promise<InjectResponse> {
  return new Promise((resolve, reject) => {
    const onReply = (reply: Reply) => {
      const { status, body, takeOver } = reply
      const headers = headersOf(reply)
      takeOver?.({ runtime: 'inject', peer: request.peer }, reply.headers)
      if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
        const end = collect(body, declaredLength(reply.headers), request.signal, streams).then(
          (bytes) => resolve({ status, headers, body: bytes }),
          reject,
        )
        void end.then(() => raw.settle())
        return
      }
      resolve({ status, headers, body: typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array()) })
      raw.settle()
    }
    const raw = new InjectRaw(request, onReply)
    handler(raw)
  })
}

function headersOf(reply: Reply): InjectResponse['headers'] {
  const headers: Record<string, string | string[]> = Object.create(null)
  for (let i = 0; i < reply.headers.length; i += 2) {
    const name = reply.headers[i]!
    const value = reply.headers[i + 1]!
    if (name === 'set-cookie') headers[name] = [...((headers[name] as string[] | undefined) ?? []), value]
    else headers[name] = headers[name] === undefined ? value : `${headers[name] as string}, ${value}`
  }
  return headers
}

/** Collects the bytes of a stream; fails if the response would break off on a connection, and keeps nothing once its client has left. */
async function collect(
  body: StreamBody,
  length: number | undefined,
  signal: AbortSignal | undefined,
  streams: LifeState['streams'],
): Promise<Uint8Array> {
  const left = new AbortController()
  const leave = (reason: unknown) => left.abort(reason)
  const chunks: Uint8Array[] = []
  const sink = new WritableStream<Uint8Array>({ write: (chunk) => void chunks.push(chunk) })
  streams.add(leave)
  try {
    const either = AbortSignal.any([left.signal, ...(signal === undefined ? [] : [signal])])
    await webStream(body, length, unheard).pipeTo(sink, { signal: either })
    return Buffer.concat(chunks)
  } finally {
    streams.delete(leave)
  }
}

const unheard = { onEnd: () => {}, onCancel: () => {}, onError: () => {} }

const injected = ['method', 'url', 'headers', 'body', 'ip', 'signal', 'peer']

/** The mistake in the arguments of `inject`, if there is one. */
function injectMistake(request: unknown, second: unknown): FrameworkError | undefined {
  const takes = (what: string) => ArgumentsError('inject', what)
  const example = "inject({ url: '/users' }); a Server has inject.get('/users') and the other verbs as well"
  if (second !== undefined || typeof request !== 'object' || request === null) {
    return takes(`one object: ${example}`)
  }
  if ((request as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'Request') {
    return takes('an object; a web Request is for fetch(request)')
  }
  for (const name in request) {
    if (!injected.includes(name))
      return takes(`{ ${injected.join(', ')} }, and "${name}" is not one of them.${didYouMean(name, injected)}`)
  }
  const { url, body } = request as { url?: unknown; body?: unknown }
  if (typeof url !== 'string') return takes(`a url: ${example}`)
  const isBody =
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    typeof (body as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === 'function'
  if (body === undefined || isBody) return undefined
  return takes('a body of text, bytes or an async iterable of bytes; write data with JSON.stringify')
}
