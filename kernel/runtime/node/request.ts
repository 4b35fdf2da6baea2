import { Buffer } from 'node:buffer'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { RawRequest, Reply, StreamBody, TakeOver } from '../../http/raw.ts'
import { BadRequestError, type FrameworkError } from '../../support/errors.ts'
import { isBun } from '../../support/runtime-name.ts'
import type { Limits } from '../adapter.ts'
import { refuseLength } from '../body-limit.ts'
import type { Activity } from '../drain-moments.ts'
import { BodyReadError, ExpectationFailedError, HeaderTooLargeError, hostFor, separator } from '../head.ts'
import { declaredLength, mostUnread } from '../sending.ts'
import { discardBody, endWithSocket, readBody, streamBody, writeStream } from './body.ts'
import type { DirectWriter } from './direct.ts'
import { closeUnread } from './linger.ts'
import { collectBody, isUntouched } from './message.ts'
import { type Pipeline, pipelineOf, whenAnswered } from './pipelining.ts'

/** How long an unread body may delay its connection after the response. */
const stalledMs = 1_000

/** Shared by all requests of one server. */
export interface NodeContext {
  readonly activity: Activity
  readonly limits: Limits
  /** Set where the direct writer is known to be safe. */
  readonly direct: DirectWriter | undefined
  /** How long responses say that their connection is kept; 0 where Node announces it. */
  readonly announced: number
  onWarning(message: string, error?: unknown): void
}

/**
 * What a client waits for before sending more: nothing, `100 Continue`, an expectation that the server does not know, or another protocol.
 */
export type Expectation = 'nothing' | 'continue' | 'unknown' | AskedUpgrade

/** A request for another protocol, with the parts that only its connection has. */
export interface AskedUpgrade {
  readonly protocol: string
  handOver(takeOver: TakeOver, headers: readonly string[]): void
}

/** A request of `node:http`. Nothing is copied or parsed before it is read. */
export class NodeRequest implements RawRequest {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #context: NodeContext
  readonly #expects: Expectation
  /** Set if the request came after another one on its connection. */
  readonly #pipeline: Pipeline | undefined
  /** Whether the rest of the body will never be read. */
  #abandoned = false
  /** Whether the connection ends with the response. */
  #isLast = false
  #isRead = false
  #isHandedOver = false
  #hasBody: boolean | undefined = undefined

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    context: NodeContext,
    expects: Expectation,
    pipeline?: Pipeline,
  ) {
    this.#message = message
    this.#response = response
    this.#context = context
    this.#expects = expects
    this.#pipeline = pipeline
  }

  get upgrade(): string | undefined {
    return typeof this.#expects === 'object' ? this.#expects.protocol : undefined
  }

  get method(): string {
    return this.#message.method ?? ''
  }

  get target(): string {
    return this.#message.url ?? ''
  }

  get host(): string | undefined {
    return hostFor(this.target, this.header('host'), this.hostOptional)
  }

  get hostOptional(): boolean {
    const { httpVersionMajor, httpVersionMinor } = this.#message
    return httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor === 0)
  }

  get version(): string {
    return this.#message.httpVersion
  }

  get secure(): boolean {
    return (this.#message.socket as TLSSocket).encrypted === true
  }

  get ip(): string {
    return this.#message.socket.remoteAddress ?? ''
  }

  header(name: string): string | undefined {
    const raw = this.#message.rawHeaders
    let found: string | undefined
    for (let i = 0; i < raw.length; i += 2) {
      const candidate = raw[i]!
      if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue
      found = found === undefined ? raw[i + 1]! : found + separator(name) + raw[i + 1]!
    }
    return found
  }

  headers(): Record<string, string> {
    const raw = this.#message.rawHeaders
    const headers: Record<string, string> = Object.create(null)
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!.toLowerCase()
      const before = headers[name]
      headers[name] = before === undefined ? raw[i + 1]! : before + separator(name) + raw[i + 1]!
    }
    return headers
  }

  get hasBody(): boolean {
    this.#hasBody ??= this.#declaresBody()
    return this.#hasBody
  }

  get isReceiving(): boolean {
    return this.#isRead && !this.#abandoned && !this.#message.complete
  }

  #declaresBody(): boolean {
    const length = this.header('content-length')
    return length === undefined ? this.header('transfer-encoding') !== undefined : Number(length) !== 0
  }

  bytes(limit: number): Promise<Uint8Array> {
    const refusal = refuseLength(this.header('content-length'), limit)
    if (refusal !== undefined) {
      this.#abandoned = true
      return Promise.reject(refusal)
    }
    if (this.#isRead) return Promise.reject(BodyReadError())
    this.#begin()
    // Node has ended the stream of a message that declares no body, which looks like a body that broke off.
    if (!this.hasBody) return Promise.resolve(Buffer.alloc(0))
    const message = this.#message
    const read = isUntouched(message) ? collectBody : readBody
    return read(message, limit, () => {
      this.#abandoned = true
    })
  }

  stream(): AsyncIterable<Uint8Array> {
    const onBegin = () => {
      if (this.#isRead) throw BodyReadError()
      this.#begin()
      // The body may be read after the response; a reader that stops delays the next request of the connection.
      this.#response.once('finish', () => {
        const closeStalled = () => body.isStalled() && this.#closeAfterAnswer()
        if (body.isStalled()) setTimeout(closeStalled, stalledMs).unref()
      })
    }
    const onLeft = () => {
      this.#abandoned = true
      // The response has begun or is sent already, so `respond` will not see the flag.
      if (this.#response.headersSent) this.#closeAfterAnswer()
    }
    const body = streamBody(this.#message, onBegin, onLeft)
    return body
  }

  #begin(): void {
    this.#isRead = true
    if (this.#response.headersSent) endWithSocket(this.#message)
    if (this.#expects === 'continue') this.#response.writeContinue()
  }

  onAbort(listener: () => void): void {
    const response = this.#response
    if (response.destroyed) {
      if (!response.writableFinished) listener()
      return
    }
    response.once('close', () => {
      if (!response.writableFinished && !this.#isHandedOver) listener()
    })
  }

  onSettled(listener: () => void): void {
    if (this.#response.destroyed) queueMicrotask(listener)
    else this.#response.once('close', listener)
  }

  refusal(): FrameworkError | undefined {
    const { rawHeaders, url, httpVersionMajor } = this.#message
    const { maxHeaderCount, maxHeaderSize } = this.#context.limits
    if (rawHeaders.length > maxHeaderCount * 2) return HeaderTooLargeError(`more than ${maxHeaderCount} header lines`)
    if (url !== undefined && url.length > maxHeaderSize) return HeaderTooLargeError(`more than ${maxHeaderSize} bytes`)
    // `GET /path` without a version passes the parser as HTTP/0.9.
    if (httpVersionMajor < 1) return BadRequestError('the HTTP version is missing')
    // RFC 9112 section 6.1: the length of its body may be read differently by each hop.
    if (this.hostOptional && this.header('transfer-encoding') !== undefined)
      return BadRequestError('an HTTP/1.0 request has no Transfer-Encoding')
    if (this.#expects === 'unknown') return ExpectationFailedError()
    return undefined
  }

  hangUp(): void {
    this.#isLast = true
    pipelineOf(this.#message.socket).endsWith(this.#response)
  }

  respond(reply: Reply): boolean {
    const { activity } = this.#context
    const isHeard = !this.#response.destroyed
    activity.count++
    activity.working--
    if (reply.takeOver !== undefined) {
      this.#isHandedOver = true
      const { handOver } = this.#expects as AskedUpgrade
      handOver(reply.takeOver, reply.headers)
      return isHeard
    }
    const sending = this.#write(reply)
    if (sending === undefined) this.#pipeline?.answered(this.#response)
    else void sending.then(() => this.#pipeline?.answered(this.#response))
    return isHeard
  }

  /** Writes the response; returns a promise, which never rejects, where a stream is sent. */
  #write(reply: Reply): Promise<void> | undefined {
    const response = this.#response
    const { body } = reply
    let headers = this.#isLast ? closing(reply.headers) : reply.headers
    // The next request may have come together with the end of a body that is too large.
    if (this.#message.complete) this.#abandoned && this.#message.resume()
    else if (this.#abandoned || this.#leavesMuch()) {
      if (!isBun) headers = closing(headers)
      closeUnread(this.#message, response)
    } else if (this.#isRead) endWithSocket(this.#message)
    else if (this.hasBody) discardBody(this.#message, mostUnread, () => this.#closeAfterAnswer())
    try {
      if (typeof body === 'string' && this.#context.direct?.(response, reply.status, headers, body)) return undefined
      // `node:http` keeps a connection whose response has the header without `close`, even for a client that wants it closed.
      if (!response.shouldKeepAlive && headers.includes('connection')) headers = closing(headers)
      if (isClosing(headers) && !pipelineOf(this.#message.socket).endsWith(response))
        headers = withoutConnection(headers)
      response.writeHead(reply.status, headers as string[])
      if (body === null) response.end()
      else if (typeof body === 'string') response.end(hasLatin1(headers) ? Buffer.from(body) : body)
      else if (body instanceof Uint8Array) response.end(body)
      else return this.#sendStream(body, reply)
    } catch (error) {
      this.#context.onWarning('a response could not be written', error)
      this.#breakOff()
    }
    return undefined
  }

  /** Whether the body is unread, and its rest is too large to read for the sake of the next request. */
  #leavesMuch(): boolean {
    if (this.#isRead || !this.hasBody) return false
    // A client that waits for `100 Continue` may now send the body, or the next request instead.
    return this.#expects === 'continue' || !(Number(this.header('content-length') ?? 0) <= mostUnread)
  }

  #sendStream(body: StreamBody, { headers, brokeOff }: Reply): Promise<void> {
    return writeStream(this.#response, body, declaredLength(headers), hasLatin1(headers)).catch((error: unknown) => {
      if (brokeOff === undefined) this.#context.onWarning('a streamed response broke off', error)
      else brokeOff(error)
      this.#breakOff()
    })
  }

  /** Ends the connection once earlier requests have their responses: a half-written response must not look finished. */
  #breakOff(): void {
    const response = this.#response
    if (response.headersSent) {
      const { socket } = this.#message
      whenAnswered(socket, () => socket.destroy(), response)
      return
    }
    // The failed attempt has left its own status text.
    response.writeHead(500, STATUS_CODES[500], ['content-length', '0'])
    response.end()
  }

  #closeAfterAnswer(): void {
    closeUnread(this.#message, this.#response)
    if (isBun) return
    if (this.#response.writableFinished) this.#message.socket.destroySoon()
    else this.#response.once('finish', () => this.#message.socket.destroySoon())
  }
}

/**
 * Whether a value has characters from U+0080 to U+00FF, one byte each (RFC 9110 section 5.5). `node:http` writes the head together
 * with the first string of the body, and then as UTF-8: two bytes each. If the body begins with bytes, it does not.
 */
function hasLatin1(headers: readonly string[]): boolean {
  for (let i = 1; i < headers.length; i += 2) if (latin1.test(headers[i]!)) return true
  return false
}

const latin1 = /[\x80-\xff]/

function closing(headers: readonly string[]): readonly string[] {
  return [...withoutConnection(headers), 'connection', headers.includes('upgrade') ? 'close, upgrade' : 'close']
}

function isClosing(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i] === 'connection' && /\bclose\b/i.test(headers[i + 1]!)) return true
  return false
}

function withoutConnection(headers: readonly string[]): readonly string[] {
  return headers.filter((_, i) => headers[i - (i % 2)] !== 'connection')
}
