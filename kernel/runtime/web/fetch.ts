import type { RawRequest, Reply, StreamBody } from '../../http/raw.ts'
import { systemClock } from '../../support/clock.ts'
import type { FrameworkError } from '../../support/errors.ts'
import { isDeno } from '../../support/runtime-name.ts'
import { within } from '../../support/within.ts'
import { type RequestHandler, upgradeOf } from '../adapter.ts'
import { HeaderTooLargeError, hostFor, lateRequest, separator } from '../head.ts'
import { IncomingBody, type IncomingSource } from '../incoming-body.ts'
import { declaredLength, mostUnread } from '../sending.ts'
import { breakingOff, emptyResponse, plainBody, responseInit, unshared, webStream } from './fetch-body.ts'
import { addressOf, type FetchContext, type HeaderLines, inProcess, type Phase } from './fetch-context.ts'

const lowerH = 104
const slash = 47
const encoder = new TextEncoder()
const noLines: HeaderLines = []

type WebRequest = globalThis.Request
type WebResponse = globalThis.Response

/** Returns a function from web request to web response. A synchronous response is returned without a promise. */
export function fetchHandler(
  handler: RequestHandler,
  context: Partial<FetchContext> = {},
): (request: WebRequest, info?: unknown) => WebResponse | Promise<WebResponse> {
  const whole: FetchContext = { ...inProcess, activity: { count: 0, working: 0 }, ...context }
  const hidesBodies = isDeno && whole.wire && whole.secure
  return (request, info) => {
    whole.activity.count++
    whole.activity.working++
    const raw = new FetchRequest(request, info, whole)
    if (hidesBodies && raw.hidesBody) void raw.findBody().then(() => handler(raw))
    else handler(raw)
    return raw.answer()
  }
}

/** A web request: those of Bun and Deno, and those without a socket. */
class FetchRequest implements RawRequest {
  readonly #request: WebRequest
  readonly #url: string
  readonly method: string
  readonly #info: unknown
  readonly #context: FetchContext
  #lines: HeaderLines | undefined
  #body: IncomingBody | undefined
  /** The body where only its first piece has shown whether there is one. */
  #found: IncomingSource | undefined
  /** Whether that piece did not arrive in time. */
  #isLate = false
  #response: WebResponse | undefined
  #resolve: ((response: WebResponse) => void) | undefined
  #onGone: (() => void) | undefined
  #waiting: (() => void)[] | undefined
  #settled: false | 'sent' | 'gone' = false
  /** Whether `phase` was called with this request. */
  #busy = false
  #isLast = false

  constructor(request: WebRequest, info: unknown, context: FetchContext) {
    this.#request = request
    this.#url = request.url
    this.method = request.method
    this.#info = info
    this.#context = context
  }

  /** The runtimes prepend an authority, from the Host or an absolute target; only `host` knows which. */
  get target(): string {
    const url = this.#url
    // Bun passes the path alone when the Host is malformed; the kernel refuses a scheme other than http.
    if ((url.charCodeAt(0) | 32) !== lowerH) return url
    const start = url.indexOf('/', url.indexOf(':') + 3)
    return start === -1 ? url : url.slice(start)
  }

  get host(): string | undefined {
    const { wire, secure } = this.#context
    const host = this.header('host')
    // With https, Deno speaks HTTP/2, whose requests have an authority instead of a Host, without showing which of them do.
    if (host === undefined) return wire && !(isDeno && secure) ? undefined : new URL(this.#url).host
    // Only Deno's URL has the authority of an absolute target, as sent; Bun's always has the Host.
    return wire && isDeno && !isAuthority(host, this.#url) ? hostFor(this.#url, host, false) : host
  }

  /** Bun itself refuses HTTP/1.1 without a Host, so only HTTP/1.0 arrives without one. */
  get hostOptional(): boolean {
    return !(isDeno && this.#context.wire)
  }

  get secure(): boolean {
    return this.#context.wire ? this.#context.secure : this.#url.startsWith('https:')
  }

  get ip(): string {
    return addressOf(this.#request, this.#info)
  }

  header(name: string): string | undefined {
    const lines = this.#allLines
    return lines === undefined ? (this.#request.headers.get(name) ?? undefined) : headerIn(lines, name)
  }

  get #allLines(): HeaderLines | undefined {
    this.#lines ??= this.#context.linesOf?.(this.#request)
    return this.#lines
  }

  get countsBody(): boolean {
    return this.#context.wire
  }

  headers(): Record<string, string> {
    const headers: Record<string, string> = Object.create(null)
    for (const [spelling, value] of this.#allLines ?? this.#request.headers) {
      const name = spelling.toLowerCase()
      const before = headers[name]
      headers[name] = before === undefined ? value : before + separator(name) + value
    }
    return headers
  }

  /** A web request has none with these methods (RFC 9110 section 9.3.1 gives it no meaning); Bun and Deno drop one that is sent. */
  get #mayHaveBody(): boolean {
    const { method } = this
    return method !== 'GET' && method !== 'HEAD'
  }

  get hasBody(): boolean {
    if (!this.#mayHaveBody) return false
    const length = this.header('content-length')
    if (length !== undefined) return Number(length) !== 0
    const isDeclared = this.#context.wire && this.#found === undefined
    return isDeclared ? this.header('transfer-encoding') !== undefined : (this.#found ?? this.#request).body !== null
  }

  /** Whether no header shows if there is a body: HTTP/2 needs none, and Deno has a stream for each POST that came over a socket. */
  get hidesBody(): boolean {
    if (this.header('content-length') !== undefined || this.header('transfer-encoding') !== undefined) return false
    return this.#request.body?.locked === false && !this.#request.bodyUsed
  }

  /** Waits for the first piece of a hidden body, or for its end. */
  async findBody(): Promise<void> {
    const [first, all] = this.#request.body!.tee()
    const reader = first.getReader()
    // A signal that has not been read before the client leaves never aborts.
    void this.#request.signal
    const { receiveTimeout } = this.#context.limits
    const found = await within(hasBytes(reader), receiveTimeout, () => 'late', systemClock).catch(() => true)
    this.#isLate = found === 'late'
    this.#found = new Response(found ? all : null)
    reader.cancel().catch(() => {})
  }

  get upgrade(): string | undefined {
    const { upgrades } = this.#context
    if (upgrades.length === 0 || this.method !== 'GET') return undefined
    // The body would be read as the first bytes of the other protocol.
    if (this.header('content-length') !== undefined || this.header('transfer-encoding') !== undefined) return undefined
    return upgradeOf(upgrades, this.header('upgrade'), this.header('connection'))
  }

  get isReceiving(): boolean {
    return this.#body?.isReceiving === true
  }

  bytes(limit: number): Promise<Uint8Array> {
    return this.#incoming.bytes(limit)
  }

  stream(): AsyncIterable<Uint8Array> {
    return this.#incoming.stream()
  }

  get #incoming(): IncomingBody {
    this.#body ??= new IncomingBody(this.#found ?? this.#request, this.header('content-length'), this.#context)
    return this.#body
  }

  onAbort(listener: () => void): void {
    // Deno aborts the signal after every response.
    if (isDeno && this.#settled === 'sent') return
    const { signal } = this.#request
    const before = this.#onGone
    const onGone = () => {
      before?.()
      listener()
      this.#settle('gone')
    }
    if (signal.aborted) return void onGone()
    // One listener for all, so that it can be removed.
    if (before !== undefined) signal.removeEventListener('abort', before)
    this.#onGone = onGone
    signal.addEventListener('abort', onGone, { once: true })
  }

  onSettled(listener: () => void, always?: boolean): void {
    if (always) this.onAbort(() => {})
    if (this.#settled) return void listener()
    if (this.#waiting?.push(listener) === undefined) this.#waiting = [listener]
  }

  refusal(): FrameworkError | undefined {
    const { limits } = this.#context
    const url = this.#url
    if (this.#isLate) return lateRequest()
    const lines = this.#allLines ?? noLines
    let size = url.length
    // Colon, blank, line end.
    for (let i = 0; i < lines.length; i++) size += lines[i]![0].length + lines[i]![1].length + 4
    if (lines.length > limits.maxHeaderCount)
      return HeaderTooLargeError(`more than ${limits.maxHeaderCount} header lines`)
    return size > limits.maxHeaderSize ? HeaderTooLargeError(`more than ${limits.maxHeaderSize} bytes`) : undefined
  }

  hangUp(): void {
    this.#isLast = this.#context.wire
  }

  respond(reply: Reply): boolean {
    // A response at once has its client. On Deno, a signal that no one has read before is never aborted, and reading it makes Deno warn.
    const isHeard = !this.#settled && (this.#resolve === undefined || isDeno || !this.#request.signal.aborted)
    let response: WebResponse
    try {
      response = this.#build(reply)
    } catch (error) {
      this.#context.onWarning('a response could not be written', error)
      response = new Response(null, { status: 500, headers: { 'content-length': '0' } })
      this.#settle()
    }
    const { activity } = this.#context
    activity.count++
    activity.working--
    this.#response = response
    this.#resolve?.(response)
    return isHeard
  }

  /** The response itself if it is available immediately, otherwise a promise of it. */
  answer(): WebResponse | Promise<WebResponse> {
    if (this.#response) return this.#response
    if (!this.#busy) this.#enter('working')
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  #build({ status, headers, body, brokeOff, takeOver }: Reply): WebResponse {
    if (takeOver !== undefined) {
      const connection = this.#context.connection(this.#request)
      this.#settle()
      return takeOver(connection, headers) as WebResponse
    }
    const said = this.#isLast ? [...headers, 'connection', 'close'] : headers
    if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
      this.#settle()
      if (body === null) return emptyResponse(this.method === 'HEAD', status, said)
      // Deno keeps a connection whose client has not sent all of its request, unless a response breaks off.
      if (isDeno && this.#context.wire && (this.#isLast || this.#isLeft) && this.#isPlain) {
        const bytes = typeof body === 'string' ? encoder.encode(body) : unshared(body)
        const framed = declaredLength(headers) === undefined ? [...said, 'content-length', String(bytes.length)] : said
        return new Response(breakingOff(bytes), responseInit(status, framed))
      }
      return new Response(plainBody(body, headers), responseInit(status, said))
    }
    return new Response(this.#stream(body, declaredLength(headers), brokeOff), responseInit(status, said))
  }

  /** Whether a stream may break off: in HTTP/2, where a request rarely has a Host, that would be a failed response. */
  get #isPlain(): boolean {
    return !this.#context.secure || this.header('host') !== undefined
  }

  #stream(body: StreamBody, length: number | undefined, brokeOff: Reply['brokeOff']): ReadableStream<Uint8Array> {
    this.#enter('working')
    return webStream(body, length, {
      onEnd: () => this.#settle(),
      onCancel: () => (this.#onGone ? this.#onGone() : this.#settle('gone')),
      onError: (error) => {
        this.#settle()
        if (brokeOff === undefined) this.#context.onWarning('a streamed response broke off', error)
        else brokeOff(error)
      },
    })
  }

  /** Ends the request: from now on, no listener needs to know what the client does. */
  #settle(how: 'sent' | 'gone' = 'sent'): void {
    // Deno also fires `abort` after every response that was delivered, and warns about it if there is a listener.
    if (this.#onGone) this.#request.signal.removeEventListener('abort', this.#onGone)
    this.#onGone = undefined
    this.#body?.settle()
    if (this.#isLeft) this.#enter('left')
    else if (this.#busy) this.#enter('done')
    this.#settled ||= how
    if (this.#waiting === undefined) return
    for (const listener of this.#waiting) listener()
    this.#waiting = undefined
  }

  /** Whether some of the body is still to come and will not be read: the connection may have to end. */
  get #isLeft(): boolean {
    const body = this.#body
    if (body?.isRead || body?.isAbandoned) return body.isAbandoned
    // Bun ends the connection of a GET that sends a body when it is idle, and two missing headers take a thirtieth of a small request there.
    if (!this.#context.wire || !(isDeno || this.#mayHaveBody)) return false
    const length = this.header('content-length')
    return length === undefined ? this.header('transfer-encoding') !== undefined : !(Number(length) <= mostUnread)
  }

  #enter(phase: Phase): void {
    this.#busy = phase === 'working'
    this.#context.phase(this.#request, phase)
  }
}

/** Whether any byte comes: an empty frame may end a request without a body. */
async function hasBytes(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  const { done, value } = await reader.read()
  return !done && (value.length > 0 || hasBytes(reader))
}

/** Whether this Host equals that of the URL, as for every request whose target is a path. */
function isAuthority(host: string, url: string): boolean {
  const start = url.indexOf(':') + 3
  return url.startsWith(host, start) && url.charCodeAt(start + host.length) === slash
}

/** Returns a header. Repeated ones are joined: all readers of a header must see the same value. */
function headerIn(lines: HeaderLines, name: string): string | undefined {
  let found: string | undefined
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const spelling = line[0]
    if (spelling.length !== name.length || (spelling !== name && spelling.toLowerCase() !== name)) continue
    found = found === undefined ? line[1] : found + separator(name) + line[1]
  }
  return found
}
