import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { RawRequest, Reply, StreamBody } from '../http/raw.ts'
import { BadRequestError, type FrameworkError, HeaderTooLargeError, PayloadTooLargeError } from '../support/errors.ts'
import type { Activity } from './activity.ts'
import type { Limits } from './adapter.ts'
import { declaredLength } from './body-source.ts'
import { isBun } from './detect.ts'
import { closeIncomplete, closeUnread, readBody, streamBody, writeStream } from './node-body.ts'
import type { DirectWriter } from './node-direct.ts'

/** What all requests of one server share. */
export interface NodeContext {
  readonly activity: Activity
  readonly limits: Limits
  /** Set where the direct way of answering is known to be safe. */
  readonly direct: DirectWriter | undefined
  /** How long answers say that their connection is kept; 0 where node says it. */
  readonly announced: number
  onWarning(message: string, error?: unknown): void
}

/** A request of `node:http`. Nothing is copied or parsed before somebody asks for it. */
export class NodeRequest implements RawRequest {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #context: NodeContext
  /** The client waits for `100 Continue` before it sends the body. */
  readonly #expectsContinue: boolean
  /** The rest of the body will never be read. */
  #abandoned = false

  constructor(message: IncomingMessage, response: ServerResponse, context: NodeContext, expectsContinue: boolean) {
    this.#message = message
    this.#response = response
    this.#context = context
    this.#expectsContinue = expectsContinue
  }

  get method(): string {
    return this.#message.method ?? ''
  }

  get target(): string {
    return this.#message.url ?? ''
  }

  get host(): string | undefined {
    return this.header('host')
  }

  get hostOptional(): boolean {
    const { httpVersionMajor, httpVersionMinor } = this.#message
    return httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor === 0)
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
    const length = this.header('content-length')
    return length === undefined ? this.header('transfer-encoding') !== undefined : Number(length) > 0
  }

  bytes(limit: number): Promise<Uint8Array> {
    const declared = this.header('content-length')
    if (declared !== undefined && Number(declared) > limit) {
      this.#abandoned = true
      return Promise.reject(PayloadTooLargeError(`${limit} bytes`))
    }
    if (this.#expectsContinue) this.#response.writeContinue()
    return readBody(this.#message, limit, () => {
      this.#abandoned = true
    })
  }

  stream(): AsyncIterable<Uint8Array> {
    if (this.#expectsContinue) this.#response.writeContinue()
    return streamBody(this.#message, () => {
      this.#abandoned = true
      // The answer has begun or is sent already, so `respond` will not see the flag.
      if (this.#response.headersSent) this.#closeAfterAnswer()
    })
  }

  onAbort(listener: () => void): void {
    const response = this.#response
    if (response.destroyed) {
      if (!response.writableFinished) queueMicrotask(listener)
      return
    }
    response.once('close', () => {
      if (!response.writableFinished) listener()
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
    return undefined
  }

  respond(reply: Reply): void {
    const { activity, direct } = this.#context
    activity.count++
    activity.working--
    const response = this.#response
    const { body } = reply
    let { headers } = reply
    if (this.#abandoned) {
      if (isBun) closeIncomplete(this.#message, response)
      else {
        headers = closing(headers)
        closeUnread(this.#message)
      }
    }
    try {
      if (typeof body === 'string' && direct?.(response, reply.status, headers, body)) return
      response.writeHead(reply.status, headers as string[])
      if (body === null) response.end()
      else if (typeof body === 'string' || body instanceof Uint8Array) response.end(body)
      else this.#sendStream(body, headers)
    } catch (error) {
      this.#fail('an answer could not be written', error)
    }
  }

  #sendStream(body: StreamBody, headers: readonly string[]): void {
    writeStream(this.#response, body, declaredLength(headers)).catch((error: unknown) => {
      this.#fail('a streamed answer broke off', error)
    })
  }

  /** What is half written must not look finished, so the connection ends here. */
  #fail(message: string, error: unknown): void {
    this.#context.onWarning(message, error)
    const response = this.#response
    if (response.headersSent) {
      this.#message.socket.destroy()
      return
    }
    response.writeHead(500, ['content-length', '0'])
    response.end()
  }

  #closeAfterAnswer(): void {
    if (isBun) {
      closeIncomplete(this.#message, this.#response)
      return
    }
    closeUnread(this.#message)
    if (this.#response.writableFinished) this.#message.socket.destroySoon()
    else this.#response.once('finish', () => this.#message.socket.destroySoon())
  }
}

/** Everything that repeats is joined, also what `node:http` would cut to the first: the other runtimes join, and a joined value is refused by its grammar. */
function separator(name: string): string {
  return name === 'cookie' ? '; ' : ', '
}

function closing(headers: readonly string[]): readonly string[] {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'connection') return headers
  return [...headers, 'connection', 'close']
}
