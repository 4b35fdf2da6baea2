// Written by `framework generate-sdk --entry server.ts --out sdk.ts`. Manual changes are lost: run the command again instead.
/* eslint-disable */
// biome-ignore-all lint: generated
// biome-ignore-all format: generated
// biome-ignore-all assist: generated

export interface Book {
  id: string
  title: string
}

export interface Failure {
  /** The name of the error. */
  code: string
  message: string
}

export interface InvalidMessage {
  code: 'InvalidMessageError'
  errors?: {
    keyword?: string
    message: string
    params?: { [name: string]: unknown }
    /** JSON pointer into the data of the message. */
    path: string
  }[]
  message: string
}

export type UnprocessableEntity = {
  code: string
  errors: {
    keyword: string
    message: string
    params: { [name: string]: unknown }
    part: 'headers' | 'params' | 'query' | 'body' | 'all'
    /** JSON pointer into the part. */
    path: string
  }[]
  message: string
}

/** The routes of API 1.0.0. */
export interface Client {
  readonly books: {
    get(input?: {
      query?: {
        limit?: number | undefined
        words?: string[] | undefined
      }
    } & CallOptions): Call<{
      200: Book[]
      400: Failure
      422: UnprocessableEntity
    }>
    post(input: {
      body: {
        title: string
      }
    } & CallOptions): Call<{
      201: Book
      400: Failure
      413: Failure
      415: Failure
      422: UnprocessableEntity
    }>
    byId(id: string): {
      get(input?: CallOptions): Call<{
        200: Book
        404: {
          code: 'BookNotFoundError'
        }
      }>
      readonly cover: {
        put(input: {
          body: {
            /** Up to 1 file; fields with other names are accepted as well. */
            files?: Blob[] | undefined
            [name: string]: unknown
          } | FormData
        } & CallOptions): Call<{
          400: Failure
          413: Failure
          415: Failure
        }>
      }
      readonly loans: {
        socket(options: {
          query: {
            reader: string
          }
        } & SocketOptions): Socket<{
          data: {
            until: string
          }
          type: 'lent'
        } | {
          data: InvalidMessage
          type: 'error'
        }, {
          data: {
            days: number
          }
          type: 'lend'
        }>
      }
    }
  }
  readonly events: {
    get(input?: CallOptions): Call<{}>
  }
  readonly files: {
    rest(wildcard: string): {
      get(input?: CallOptions): Call<{}>
    }
  }
}

/** Creates a client of the server: `const client = createClient({ baseUrl: 'http://localhost:3000' })`. */
export function createClient(options: ClientOptions = {}): Client {
  const send = connect(options)
  const open = openSockets(options)
  return {
    books: {
      get: (input) => send('GET', '/books', input),
      post: (input) => send('POST', '/books', input, 'application/json'),
      byId: (value) => {
        const path1 = '/books/' + segment('id', value)
        return {
          get: (input) => send('GET', path1, input),
          cover: {
            put: (input) => send('PUT', path1 + '/cover', input, 'multipart/form-data'),
          },
          loans: {
            socket: (options) => open(path1 + '/loans', true, options),
          },
        }
      },
    },
    events: {
      get: (input) => send('GET', '/events', input),
    },
    files: {
      rest: (value) => {
        const path1 = '/files/' + rest(value)
        return {
          get: (input) => send('GET', path1, input),
        }
      },
    },
  }
}

type Value = string | number | bigint | boolean | null | undefined

/** Values of headers; `undefined` and `null` are not sent, and a list is one line, with commas. */
export interface HeaderValues {
  readonly [name: string]: Value | readonly Value[]
}

/** Options of a client. */
export interface ClientOptions {
  /** The address of the server, with the prefix that it is served under if any. Browsers do not need it: the default is their own origin. */
  readonly baseUrl?: string | undefined
  /** Headers of every call; a function is called before each. */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>) | undefined
  /** In place of the global `fetch`: `(request) => server.fetch(request)` calls a server of this process. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined
  /** Whether cookies are sent, as for `fetch`. */
  readonly credentials?: 'omit' | 'same-origin' | 'include' | undefined
  /** Timeout of a call in milliseconds, including its body. Default none. */
  readonly timeout?: number | undefined
  /** Aborts every call. */
  readonly signal?: AbortSignal | undefined
}

/** Options of every call, in addition to its own input; they override the options of the client. */
export interface CallOptions {
  /** Headers of this call, in addition to those of the client; `undefined` and `null` are not sent. */
  readonly headers?: HeaderValues | undefined
  /** Timeout of the call in milliseconds, including its body. */
  readonly timeout?: number | undefined
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined
}

export type SuccessStatus = 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226
type Redirect = 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308
type Refusal =
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418)
  | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451)
export type FailureStatus = Redirect | Refusal | 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511
export type IsSuccess<Status> = Status extends number ? (`${Status}` extends `2${string}` ? true : false) : never

export interface Input extends CallOptions {
  readonly query?: object
  readonly body?: unknown
}

/** Sends a call to a path, which is encoded; `type` is the media type of its body. */
async function send(
  client: ClientOptions,
  method: string,
  path: string,
  input: Input = {},
  type?: string,
): Promise<Response> {
  const headers = await headersOf(client, input)
  const body = write(input.body, type, headers)
  const url = address(client, path + search(input.query))
  const init = { method, headers, signal: signalOf(client, input), ...(body !== undefined && { body }) }
  const { credentials } = client
  return (client.fetch ?? fetch)(new Request(url, credentials === undefined ? init : { ...init, credentials }))
}

function address({ baseUrl = '' }: ClientOptions, path: string): string {
  return baseUrl.replace(/\/+$/, '') + path
}

async function headersOf(client: ClientOptions, own: CallOptions): Promise<Headers> {
  const common = typeof client.headers === 'function' ? await client.headers() : client.headers
  const headers = new Headers()
  for (const [name, value] of [...Object.entries(common ?? {}), ...Object.entries(own.headers ?? {})]) {
    if (value !== undefined && value !== null) headers.set(name, String(value))
  }
  return headers
}

function signalOf(client: ClientOptions, own: CallOptions): AbortSignal {
  const timeout = own.timeout ?? client.timeout
  const signals = [client.signal, own.signal, timeout === undefined ? undefined : AbortSignal.timeout(timeout)]
  return AbortSignal.any(signals.filter((one) => one !== undefined))
}

/** Whether a media type, in lower case, is that of one JSON value: `application/json-seq` is a sequence of them. */
function isJson(type: string): boolean {
  return /^application\/([\w.+-]+\+)?json(?=\s*(;|$))/.test(type)
}

/** Reads the body of a response by its content type: nothing is `undefined`, but for text, where it is `emptyText`. */
async function read(response: Response, emptyText?: ''): Promise<unknown> {
  const type = (response.headers.get('content-type') ?? '').toLowerCase()
  if (type.startsWith('text/event-stream')) return response.body
  if (isJson(type)) {
    const text = await response.text()
    return text === '' ? undefined : JSON.parse(text)
  }
  if (type.startsWith('text/')) return (await response.text()) || emptyText
  const blob = await response.blob()
  return blob.size === 0 ? undefined : blob
}

function write(body: unknown, type: string | undefined, headers: Headers) {
  if (body === undefined || body instanceof FormData || body instanceof URLSearchParams) return body
  if (type === 'multipart/form-data') return fill(new FormData(), body, 'body')
  if (type === 'application/x-www-form-urlencoded') return fill(new URLSearchParams(), body, 'body')
  if (type !== undefined && !type.includes('*') && !headers.has('content-type')) headers.set('content-type', type)
  // Bytes are written already.
  return isJson(type ?? '') && !(body instanceof ArrayBuffer) ? JSON.stringify(body) : (body as string | Blob)
}

function fill<Form extends FormData | URLSearchParams>(form: Form, fields: unknown, part: string): Form {
  for (const [name, given] of Object.entries(fields ?? {})) {
    for (const value of Array.isArray(given) ? given : [given]) {
      if (value instanceof Blob && form instanceof FormData) form.append(name, value)
      else if (value !== undefined && value !== null) form.append(name, plain(`"${name}" in the ${part}`, value))
    }
  }
  return form
}

function search(query: object | undefined): string {
  const text = fill(new URLSearchParams(), query, 'query').toString()
  return text === '' ? '' : `?${text}`
}

function plain(what: string, value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') throw new TypeError(`${what} is an object, which cannot be written as text`)
  return String(value)
}

/** Encodes a parameter of a path. */
function segment(name: string, value: unknown): string {
  const text = plain(`the parameter "${name}"`, value)
  // Every URL parser removes dots, with the segment before them, in any escaped form; half a surrogate pair is not text.
  if (text === '' || text === '.' || text === '..' || /\p{Surrogate}/u.test(text)) {
    throw new TypeError(`the parameter "${name}" is ${JSON.stringify(text)}, which cannot be sent in a path`)
  }
  return encodeURIComponent(text)
}

/** Encodes a parameter that is the rest of a path, with its slashes. */
function rest(value: unknown, name = 'rest'): string {
  return String(value)
    .split('/')
    .map((part) => (part === '' ? '' : segment(name, part)))
    .join('/')
}

export interface ClientOptions {
  /** Receives every failure: the errors of fetch, and an ApiError for each response that is not 2xx. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** One response, read. */
export interface Answer<Status, Data> {
  /** Whether the status is 2xx. */
  readonly ok: IsSuccess<Status>
  readonly status: Status
  readonly data: Data
  readonly headers: Headers
}

/** Any response, of unknown status. */
export interface AnyAnswer {
  readonly ok: boolean
  readonly status: number
  readonly data: unknown
  readonly headers: Headers
}

/** The responses by status. A status that the server does not announce has unknown data. */
export type Result<Answers> =
  | { [Status in keyof Answers]: Answer<Status, Answers[Status]> }[keyof Answers]
  | (true extends IsSuccess<keyof Answers> ? never : Answer<SuccessStatus, unknown>)
  | Answer<Exclude<FailureStatus, keyof Answers>, unknown>

/** The data of the responses that are 2xx. */
export type DataOf<Answers> = true extends IsSuccess<keyof Answers>
  ? { [Status in keyof Answers]: IsSuccess<Status> extends true ? Answers[Status] : never }[keyof Answers]
  : unknown

/** A response that is not 2xx, thrown by .data(). */
export class ApiError extends Error {
  readonly status: number
  readonly data: unknown
  readonly headers: Headers
  constructor(what: string, answer: AnyAnswer) {
    super(what + ' was answered with ' + answer.status)
    this.name = 'ApiError'
    this.status = answer.status
    this.data = answer.data
    this.headers = answer.headers
  }
}

/** A call in progress. Await it for the response, whatever its status; or use one of the other two forms. */
export class Call<Answers> implements Promise<Result<Answers>> {
  readonly [Symbol.toStringTag]: string = 'Call'
  readonly #what: string
  readonly #response: Promise<Response>
  readonly #onError: ((error: unknown) => void) | undefined
  #result: Promise<Result<Answers>> | undefined
  constructor(what: string, response: Promise<Response>, onError?: (error: unknown) => void) {
    this.#what = what
    this.#response = response
    this.#onError = onError
  }
  /** The data of a 2xx answer; every other is thrown as an ApiError. */
  async data(): Promise<DataOf<Answers>> {
    const answer = (await this) as AnyAnswer
    if (!answer.ok) throw new ApiError(this.#what, answer)
    return answer.data as DataOf<Answers>
  }
  /** The response of fetch, its body unread: for streams, such as server-sent events. */
  async raw(): Promise<Response> {
    const response = await this.#response
    const { ok, status, headers } = response
    if (!ok) this.#onError?.(new ApiError(this.#what, { ok, status, headers, data: undefined }))
    return response
  }
  then<Then = Result<Answers>, Catch = never>(
    onDone?: ((result: Result<Answers>) => Then | PromiseLike<Then>) | null,
    onFailed?: ((error: any) => Catch | PromiseLike<Catch>) | null,
  ): Promise<Then | Catch> {
    this.#result ??= this.#read()
    return this.#result.then(onDone, onFailed)
  }
  catch<Catch = never>(onFailed?: ((error: any) => Catch | PromiseLike<Catch>) | null): Promise<Result<Answers> | Catch> {
    return this.then(null, onFailed)
  }
  finally(onEnd?: (() => void) | null): Promise<Result<Answers>> {
    return this.then().finally(onEnd)
  }
  async #read(): Promise<Result<Answers>> {
    const response = await this.#response
    const { ok, status, headers } = response
    let answer: AnyAnswer
    try {
      answer = { ok, status, headers, data: this.#what.startsWith('HEAD ') ? undefined : await read(response, '') }
    } catch (error) {
      this.#onError?.(error)
      throw error
    }
    if (!ok) this.#onError?.(new ApiError(this.#what, answer))
    return answer as Result<Answers>
  }
}

function connect(client: ClientOptions) {
  return <Answers>(method: string, path: string, input?: Input, type?: string, by: typeof send = send): Call<Answers> => {
    const response = by(client, method, path, input, type)
    if (client.onError !== undefined) response.catch(client.onError)
    return new Call(method + ' ' + path, response, client.onError)
  }
}

/** A WebSocket of any runtime, or of a package. */
export interface AnyWebSocket {
  binaryType: string
  readonly protocol: string
  send(data: any): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: any) => void): void
}
export type WebSocketClass = new (url: string, protocols?: any, options?: any) => AnyWebSocket

export interface ClientOptions {
  /** In place of the global WebSocket, which Node.js has from version 22 on: for example that of the package ws. */
  readonly WebSocket?: WebSocketClass | undefined
}

/** Options of reconnecting. */
export interface Reconnect {
  /** Milliseconds to the first attempt, doubled for each further one; each wait is between half of that and the whole. Default 500. */
  readonly delay?: number | undefined
  /** The longest wait. Default 30000. */
  readonly maxDelay?: number | undefined
  /** Attempts in a row before the socket ends. Default: no limit. */
  readonly attempts?: number | undefined
}

/** Options of every socket, in addition to its own input. */
export interface SocketOptions {
  /** Headers of the opening request. Browsers cannot send any: there, setting them is an error, and the headers of the client are left out. */
  readonly headers?: HeaderValues | undefined
  /** The sub-protocols that the client offers, the preferred one first. Default: all that the server names. */
  readonly protocols?: readonly string[] | undefined
  /** Whether the socket reconnects when the connection breaks off or the server goes away. Default false. */
  readonly reconnect?: boolean | Reconnect | undefined
  /** How many messages may wait for a connection; a further one is an error. Default 100. */
  readonly buffer?: number | undefined
  /** Closes the socket. */
  readonly signal?: AbortSignal | undefined
}

/** How a connection ended: a code of RFC 6455 section 7.4, 1005 where the server named none, 1006 where there was no connection or it broke off. */
export interface SocketEnd {
  readonly code: number
  readonly reason: string
}

export interface SocketEvents<Received> {
  readonly open: { readonly isAgain: boolean }
  readonly message: Received
  readonly close: SocketEnd & { readonly willReconnect: boolean }
}

/** A socket has ended other than by close() or with code 1000, or cannot send. */
export class SocketError extends Error {
  readonly code: number
  readonly reason: string
  constructor(what: string, end: SocketEnd) {
    super(what + (end.reason === '' ? '' : ': ' + end.reason))
    this.name = 'SocketError'
    this.code = end.code
    this.reason = end.reason
  }
}

interface Reader<Received> {
  give(message: Received): void
  end(error: SocketError | undefined): void
}

interface Opening extends SocketOptions {
  readonly query?: object
}

/** A websocket. Read it by for await, or by on('message'); messages that come before are kept, the last 1000. */
export class Socket<Received, Sent> implements AsyncIterable<Received> {
  /** Resolves when the connection is open for the first time; rejects where the socket ends before. */
  readonly opened: Promise<void>
  /** Resolves when the socket has ended and does not connect again. */
  readonly closed: Promise<SocketEnd>
  readonly #what: string
  readonly #isJson: boolean
  readonly #connect: () => Promise<() => AnyWebSocket>
  readonly #options: SocketOptions
  readonly #onError: ((error: unknown) => void) | undefined
  readonly #listeners: { readonly [Name in keyof SocketEvents<Received>]: Set<(event: SocketEvents<Received>[Name]) => void> } = {
    open: new Set(),
    message: new Set(),
    close: new Set(),
  }
  readonly #readers: Set<Reader<Received>> = new Set()
  readonly #stop = (): void => this.close()
  #settle: { open(): void; fail(error: unknown): void; end(end: SocketEnd): void }
  #unsent: (string | Uint8Array)[] = []
  #unread: Received[] | undefined = []
  #web: AnyWebSocket | undefined
  #isOpen = false
  #openings = 0
  #openedAt = 0
  #attempt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosing = false
  #end: SocketEnd | undefined
  #error: SocketError | undefined
  constructor(
    what: string,
    isJson: boolean,
    connect: () => Promise<() => AnyWebSocket>,
    options: SocketOptions,
    client: { readonly signal?: AbortSignal | undefined; readonly onError?: ((error: unknown) => void) | undefined } = {},
  ) {
    this.#what = what
    this.#isJson = isJson
    this.#connect = connect
    this.#options = options
    this.#onError = client.onError
    const settle = { open: (): void => {}, fail: (_error: unknown): void => {}, end: (_end: SocketEnd): void => {} }
    this.opened = new Promise((resolve, reject) => {
      settle.open = resolve
      settle.fail = reject
    })
    this.closed = new Promise((resolve) => {
      settle.end = resolve
    })
    this.#settle = settle
    // Callers that do not use it receive the error through the iteration or on('close').
    this.opened.catch(() => {})
    for (const signal of [client.signal, options.signal]) signal?.addEventListener('abort', this.#stop)
    this.closed.then(() => {
      for (const signal of [client.signal, options.signal]) signal?.removeEventListener('abort', this.#stop)
    })
    if (client.signal?.aborted || options.signal?.aborted) this.close()
    else void this.#start()
  }
  /** Whether a message would be sent immediately. */
  get isOpen(): boolean {
    return this.#isOpen
  }
  /** The sub-protocol that the server has chosen, '' for none and before. */
  get protocol(): string {
    return this.#web?.protocol ?? ''
  }
  /** Sends a message. Without a connection the message waits for one, or this throws where too many wait; after the end it throws. */
  send(message: Sent): void {
    const data = typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message)
    if (this.#end !== undefined || this.#isClosing) throw new SocketError(this.#what + ' has ended', this.#end ?? { code: 1000, reason: '' })
    if (this.#isOpen && this.#web !== undefined) return this.#web.send(data)
    const limit = this.#options.buffer ?? 100
    if (this.#unsent.length >= limit) {
      throw new SocketError(this.#what + ' is not connected, and ' + limit + ' messages wait already', { code: 1006, reason: '' })
    }
    this.#unsent.push(data)
  }
  /** Calls a function for each message, opening or end of a connection; the returned function ends that. */
  on<Name extends keyof SocketEvents<Received>>(name: Name, listener: (event: SocketEvents<Received>[Name]) => void): () => void {
    const listeners = this.#listeners[name] as Set<(event: SocketEvents<Received>[Name]) => void>
    listeners.add(listener)
    if (name === 'message') queueMicrotask(() => this.#flush())
    return () => void listeners.delete(listener)
  }
  /** Ends the socket, without reconnecting. */
  close(code = 1000, reason = ''): void {
    if (this.#end !== undefined || this.#isClosing) return
    this.#isClosing = true
    clearTimeout(this.#timer)
    if (this.#web === undefined) return this.#finish({ code, reason })
    try {
      this.#web.close(code, reason)
    } catch (error) {
      // A code or a reason that the runtime refuses: the socket continues, and can still be closed.
      this.#isClosing = false
      throw error
    }
  }
  /** The messages from now on. It ends with the socket; a SocketError means an irregular end. */
  [Symbol.asyncIterator](): AsyncIterator<Received, undefined> {
    const ready: Received[] = []
    const asked: { resolve(result: IteratorResult<Received, undefined>): void; reject(error: unknown): void }[] = []
    let ended: { readonly error: SocketError | undefined } | undefined
    const done: IteratorResult<Received, undefined> = { done: true, value: undefined }
    const reader: Reader<Received> = {
      give: (value) => {
        const next = asked.shift()
        if (next === undefined) ready.push(value)
        else next.resolve({ done: false, value })
      },
      end: (error) => {
        ended = { error: asked.length > 0 ? undefined : error }
        for (const [at, next] of asked.splice(0).entries()) {
          if (at === 0 && error !== undefined) next.reject(error)
          else next.resolve(done)
        }
      },
    }
    this.#readers.add(reader)
    this.#flush()
    if (this.#end !== undefined) reader.end(this.#error)
    return {
      next: () => {
        if (ready.length > 0) return Promise.resolve({ done: false, value: ready.shift() as Received })
        if (ended === undefined) return new Promise((resolve, reject) => asked.push({ resolve, reject }))
        const { error } = ended
        ended = { error: undefined }
        return error === undefined ? Promise.resolve(done) : Promise.reject(error)
      },
      return: () => {
        this.#readers.delete(reader)
        ready.length = 0
        reader.end(undefined)
        return Promise.resolve(done)
      },
    }
  }
  async #start(): Promise<void> {
    const failed = (error: unknown): SocketEnd => ({ code: 1006, reason: error instanceof Error ? error.message : String(error) })
    let make: () => AnyWebSocket
    try {
      make = await this.#connect()
    } catch (error) {
      // The headers may need a token that is not available at this moment.
      return this.#lose(failed(error))
    }
    if (this.#end !== undefined) return
    let web: AnyWebSocket
    try {
      web = make()
    } catch (error) {
      return this.#finish(failed(error))
    }
    let isOver = false
    const over = (end: SocketEnd): void => {
      if (isOver) return
      isOver = true
      this.#lose(end)
    }
    web.binaryType = 'arraybuffer'
    web.addEventListener('open', () => this.#open())
    web.addEventListener('message', ({ data }) => this.#receive(data))
    // Not every runtime reports the close of a connection that was never made.
    web.addEventListener('error', () => {
      if (!this.#isOpen) over({ code: 1006, reason: '' })
    })
    // Deno reports 0 instead of 1006 when the connection breaks off.
    web.addEventListener('close', ({ code, reason }) => over({ code: code || 1006, reason: String(reason ?? '') }))
    this.#web = web
  }
  #open(): void {
    if (this.#isClosing) return
    this.#isOpen = true
    this.#openedAt = Date.now()
    this.#settle.open()
    for (const data of this.#unsent.splice(0)) this.#web?.send(data)
    this.#emit('open', { isAgain: this.#openings++ > 0 })
  }
  #receive(data: unknown): void {
    let message: unknown = typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer)
    if (this.#isJson) {
      try {
        message = JSON.parse(data as string)
      } catch (error) {
        return this.#report(error)
      }
    }
    if (this.#unread === undefined) return this.#deliver(message as Received)
    this.#unread.push(message as Received)
    if (this.#unread.length > 1000) this.#unread.shift()
  }
  #flush(): void {
    const unread = this.#unread ?? []
    this.#unread = undefined
    for (const message of unread) this.#deliver(message)
  }
  #deliver(message: Received): void {
    for (const reader of this.#readers) reader.give(message)
    this.#emit('message', message)
  }
  #emit<Name extends keyof SocketEvents<Received>>(name: Name, event: SocketEvents<Received>[Name]): void {
    for (const listener of this.#listeners[name] as Set<(event: SocketEvents<Received>[Name]) => void>) {
      this.#run(() => listener(event))
    }
  }
  #report(error: unknown): void {
    this.#run(() => this.#onError?.(error))
  }
  #run(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      // It must neither affect the socket and other listeners, nor be lost.
      queueMicrotask(() => {
        throw error
      })
    }
  }
  #lose(end: SocketEnd): void {
    this.#web = undefined
    const { reconnect } = this.#options
    const { delay = 500, maxDelay = 30_000, attempts = Infinity } = typeof reconnect === 'object' ? reconnect : {}
    // A connection that has lasted for a while resets the delay.
    if (this.#isOpen && Date.now() - this.#openedAt >= 5_000) this.#attempt = 0
    this.#isOpen = false
    const isWorthIt = [1001, 1005, 1006, 1011, 1012, 1013, 1014].includes(end.code)
    if (!reconnect || this.#isClosing || !isWorthIt || this.#attempt >= attempts) return this.#finish(end)
    this.#emit('close', { ...end, willReconnect: true })
    if (this.#isClosing) return
    const wait = Math.min(maxDelay, delay * 2 ** this.#attempt++)
    this.#timer = setTimeout(() => void this.#start(), wait * (0.5 + Math.random() / 2))
  }
  #finish(end: SocketEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#unsent = []
    const isGood = this.#isClosing || end.code === 1000
    const error = new SocketError(this.#what + ' has ended with ' + end.code, end)
    if (!isGood) {
      this.#error = error
      this.#report(error)
    }
    this.#settle.fail(error)
    this.#settle.end(end)
    for (const reader of this.#readers) reader.end(this.#error)
    this.#emit('close', { ...end, willReconnect: false })
  }
}
function openSockets(client: ClientOptions) {
  return <Received, Sent>(path: string, isJson: boolean, options: Opening = {}, offered: readonly string[] = []): Socket<Received, Sent> => {
    const Given = client.WebSocket
    const Class = Given ?? ((globalThis as { WebSocket?: unknown }).WebSocket as WebSocketClass | undefined)
    if (Class === undefined) {
      throw new TypeError('this runtime has no WebSocket (Node.js has it from version 22 on): give that of the package ws to the client, as its option WebSocket')
    }
    const { process } = globalThis as { process?: { versions?: { node?: string } } }
    const sendsHeaders = process?.versions?.node !== undefined
    if (!sendsHeaders && Object.values(options.headers ?? {}).some((value) => value !== undefined && value !== null)) {
      throw new TypeError('a browser sends no headers of yours with a websocket: name the caller by a cookie, the query or a sub-protocol')
    }
    const url = socketUrl(client, path + search(options.query))
    const protocols = [...(options.protocols ?? offered)]
    const connect = async (): Promise<() => AnyWebSocket> => {
      const headers = await headersOf(client, options)
      const named: Record<string, string> = {}
      headers.forEach((value, name) => {
        named[name] = value
      })
      if (!sendsHeaders || Object.keys(named).length === 0) return () => new Class(url, protocols)
      return () => (Given === undefined ? new Class(url, { protocols, headers: named }) : new Class(url, protocols, { headers: named }))
    }
    return new Socket(path, isJson, connect, options, client)
  }
}

function socketUrl(client: ClientOptions, path: string): string {
  const { location } = globalThis as { location?: { href?: string } }
  const text = address(client, path)
  if (!URL.canParse(text, location?.href)) throw new TypeError('the client has no baseUrl, which a websocket needs outside of browsers')
  const url = new URL(text, location?.href)
  url.protocol = url.protocol.replace(/^http/, 'ws')
  return url.href
}