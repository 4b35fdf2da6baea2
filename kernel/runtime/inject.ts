import type { RawRequest, Reply } from '../http/raw.ts'
import { BadRequestError, type FrameworkError, PayloadTooLargeError } from '../support/errors.ts'
import type { RequestHandler } from './adapter.ts'

/** A request that never sees a socket. */
export interface InjectRequest {
  /** Default `GET`. */
  method?: string
  /** Path and query, or an absolute URL. */
  url: string
  /** A list of values is joined. */
  headers?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** The address of the client; default `127.0.0.1`. */
  ip?: string
  /** The client goes away when it aborts. */
  signal?: AbortSignal
}

/** The answer as it would have left: flat headers and all bytes. */
export interface InjectResponse {
  readonly status: number
  /** Lower-case names; `set-cookie` is always a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
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
  readonly #headers: Record<string, string>
  readonly #body: InjectRequest['body']
  readonly #signal: AbortSignal | undefined
  readonly #resolve: (reply: Reply) => void

  constructor(request: InjectRequest, resolve: (reply: Reply) => void) {
    this.method = request.method ?? 'GET'
    this.target = request.url
    this.secure = request.url.startsWith('https:')
    this.ip = request.ip ?? '127.0.0.1'
    this.#headers = lowerCase(request.headers)
    this.host = this.#headers.host ?? hostOf(request.url)
    this.#headers.host ??= this.host
    this.#body = request.body
    if (typeof request.body === 'string' || request.body instanceof Uint8Array) {
      this.#headers['content-length'] ??= String(Buffer.byteLength(request.body))
    }
    const length = this.#headers['content-length']
    // As over a socket: no byte is no body, while a stream is one until it has ended.
    this.hasBody = length === undefined ? request.body !== undefined : Number(length) > 0
    this.#signal = request.signal
    this.#resolve = resolve
  }

  header(name: string): string | undefined {
    return this.#headers[name]
  }

  headers(): Record<string, string> {
    return Object.assign(Object.create(null), this.#headers) as Record<string, string>
  }

  async bytes(limit: number): Promise<Uint8Array> {
    if (Number(this.#headers['content-length']) > limit) throw PayloadTooLargeError(`${limit} bytes`)
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.stream()) {
      size += chunk.byteLength
      // Counted, whatever content-length claims.
      if (size > limit) throw PayloadTooLargeError(`${limit} bytes`)
      if (this.#signal?.aborted) throw BadRequestError('the client left before the body was complete')
      chunks.push(chunk)
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    const body = this.#body
    if (body === undefined) return
    if (typeof body === 'string') yield Buffer.from(body)
    else if (body instanceof Uint8Array) yield body
    else yield* body
  }

  onAbort(listener: () => void): void {
    if (this.#signal?.aborted) listener()
    else this.#signal?.addEventListener('abort', listener, { once: true })
  }

  refusal(): FrameworkError | undefined {
    return undefined
  }

  respond(reply: Reply): void {
    this.#resolve(reply)
  }
}

function lowerCase(headers: InjectRequest['headers'] = {}): Record<string, string> {
  const lower: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) lower[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return lower
}

function hostOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? 'localhost'
}

async function collect(reply: Reply): Promise<Uint8Array> {
  const { body } = reply
  if (body === null) return new Uint8Array()
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  for await (const chunk of body as AsyncIterable<Uint8Array | string>)
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return Buffer.concat(chunks)
}

/** Sends one request through the pipeline in process. Rejects only when a streamed answer breaks. */
export async function injectInto(handler: RequestHandler, request: InjectRequest): Promise<InjectResponse> {
  const reply = await new Promise<Reply>((resolve) => handler(new InjectRaw(request, resolve)))
  const headers: Record<string, string | string[]> = Object.create(null)
  for (let i = 0; i < reply.headers.length; i += 2) {
    const name = reply.headers[i]!
    const value = reply.headers[i + 1]!
    if (name === 'set-cookie') headers[name] = [...((headers[name] as string[] | undefined) ?? []), value]
    else headers[name] = headers[name] === undefined ? value : `${headers[name] as string}, ${value}`
  }
  return { status: reply.status, headers, body: await collect(reply) }
}
