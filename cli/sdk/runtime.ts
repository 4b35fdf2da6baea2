/** The declarations of the runtime part. */
export const runtimeNames = [
  'Answer',
  'AnyAnswer',
  'ApiError',
  'Call',
  'CallOptions',
  'ClientOptions',
  'DataOf',
  'FailureStatus',
  'HeaderValues',
  'Input',
  'IsSuccess',
  'Result',
  'SuccessStatus',
  'Value',
] as const

// Characters that a template cannot contain unescaped.
const [tick, hole] = ['`', '$']

/**
 * The part that is the same in all generated clients: how calls are sent and answers are read. It is a string, because it
 * becomes a part of the file; the tests compile it and run it on every runtime.
 */
export const runtime = String.raw`type Value = string | number | bigint | boolean | null | undefined
export type HeaderValues = { readonly [name: string]: Value }

/** Options of a client. */
export interface ClientOptions {
  /** The address of the server, with the prefix that it is served under if any. Browsers do not need it: the default is their own origin. */
  readonly baseUrl?: string | undefined
  /** Headers of every call; a function is called before each. */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>) | undefined
  /** In place of the global fetch: (request) => server.fetch(request) calls a server of this process. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined
  /** Whether cookies are sent, as for fetch. */
  readonly credentials?: 'omit' | 'same-origin' | 'include' | undefined
  /** Timeout of a call in milliseconds. Default none. */
  readonly timeout?: number | undefined
  /** Aborts every call. */
  readonly signal?: AbortSignal | undefined
  /** Receives every failure: the errors of fetch, and an ApiError for each answer that is not 2xx. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Options of every call, in addition to its own input; they override the options of the client. */
export interface CallOptions {
  readonly headers?: HeaderValues | undefined
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export type SuccessStatus = 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226
export type FailureStatus =
  | 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308
  | 400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417
  | 418 | 421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451
  | 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511
type IsSuccess<Status> = Status extends number ? (${tick}${hole}{Status}${tick} extends ${tick}2${hole}{string}${tick} ? true : false) : never

/** One answer, read. */
export interface Answer<Status, Data> {
  /** Whether the status is 2xx. */
  readonly ok: IsSuccess<Status>
  readonly status: Status
  readonly data: Data
  readonly headers: Headers
}

/** Any answer, of unknown status. */
export interface AnyAnswer {
  readonly ok: boolean
  readonly status: number
  readonly data: unknown
  readonly headers: Headers
}

/** The answers by status. A status that the server does not announce has unknown data. */
export type Result<Answers> =
  | { [Status in keyof Answers]: Answer<Status, Answers[Status]> }[keyof Answers]
  | (true extends IsSuccess<keyof Answers> ? never : Answer<SuccessStatus, unknown>)
  | Answer<Exclude<FailureStatus, keyof Answers>, unknown>

/** The data of the answers that are 2xx. */
export type DataOf<Answers> = true extends IsSuccess<keyof Answers>
  ? { [Status in keyof Answers]: IsSuccess<Status> extends true ? Answers[Status] : never }[keyof Answers]
  : unknown

/** An answer that is not 2xx, thrown by .data(). */
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

/** A call in progress. Await it for the answer, whatever its status; or use one of the other two forms. */
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
  raw(): Promise<Response> {
    return this.#response
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
      answer = { ok, status, headers, data: await read(response) }
    } catch (error) {
      this.#onError?.(error)
      throw error
    }
    if (!ok) this.#onError?.(new ApiError(this.#what, answer))
    return answer as Result<Answers>
  }
}

async function read(response: Response): Promise<unknown> {
  const type = (response.headers.get('content-type') ?? '').toLowerCase()
  if (type.startsWith('text/event-stream')) return response.body
  if (/^application\/([\w.+-]+\+)?json\b/.test(type)) {
    const text = await response.text()
    return text === '' ? undefined : JSON.parse(text)
  }
  if (type.startsWith('text/')) return response.text()
  const blob = await response.blob()
  return blob.size === 0 ? undefined : blob
}

interface Input extends CallOptions {
  readonly query?: object
  readonly body?: unknown
}

function connect(client: ClientOptions) {
  const base = (client.baseUrl ?? '').replace(/\/+$/, '')
  const fetch = client.fetch ?? ((request: Request): Promise<Response> => globalThis.fetch(request))
  const start = async (method: string, path: string, input: Input, type: string | undefined): Promise<Response> => {
    const headers = new Headers()
    const common = typeof client.headers === 'function' ? await client.headers() : client.headers
    for (const [name, value] of [...Object.entries(common ?? {}), ...Object.entries(input.headers ?? {})]) {
      if (value !== undefined && value !== null) headers.set(name, String(value))
    }
    const body = write(input.body, type, headers)
    const timeout = input.timeout ?? client.timeout
    const signals = [client.signal, input.signal, timeout === undefined ? undefined : AbortSignal.timeout(timeout)]
    const signal = AbortSignal.any(signals.filter((one) => one !== undefined))
    const init = { method, headers, signal, ...(body !== undefined && { body }) }
    const url = base + path + search(input.query)
    return fetch(new Request(url, client.credentials === undefined ? init : { ...init, credentials: client.credentials }))
  }
  return <Answers>(method: string, path: string, input: Input = {}, type?: string): Call<Answers> => {
    const response = start(method, path, input, type)
    if (client.onError !== undefined) response.catch(client.onError)
    return new Call(method + ' ' + path, response, client.onError)
  }
}

function write(body: unknown, type: string | undefined, headers: Headers) {
  if (body === undefined || body instanceof FormData || body instanceof URLSearchParams) return body
  if (type === 'multipart/form-data') return fill(new FormData(), body)
  if (type === 'application/x-www-form-urlencoded') return fill(new URLSearchParams(), body)
  if (type !== undefined && !type.includes('*') && !headers.has('content-type')) headers.set('content-type', type)
  return /\bjson\b/.test(type ?? '') ? JSON.stringify(body) : (body as string | Blob | ArrayBuffer)
}

function fill<Form extends FormData | URLSearchParams>(form: Form, fields: unknown): Form {
  for (const [name, given] of Object.entries(fields ?? {})) {
    for (const value of Array.isArray(given) ? given : [given]) {
      if (value instanceof Blob && form instanceof FormData) form.append(name, value)
      else if (value !== undefined && value !== null) form.append(name, plain(name, value))
    }
  }
  return form
}

function search(query: object | undefined): string {
  const text = query === undefined ? '' : fill(new URLSearchParams(), query).toString()
  return text === '' ? '' : '?' + text
}

function plain(name: string, value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') throw new TypeError(name + ' is an object, which cannot be written as text')
  return String(value)
}

function segment(name: string, value: string | number | boolean): string {
  const text = String(value)
  // Every URL parser removes dots, with the segment before them, in any escaped form; half a surrogate pair is not text.
  if (text === '' || text === '.' || text === '..' || /\p{Surrogate}/u.test(text)) {
    throw new TypeError('the parameter ' + name + ' is "' + text + '", which cannot be sent in a path')
  }
  return encodeURIComponent(text)
}

function rest(value: string): string {
  return value.split('/').map((part) => (part === '' ? '' : segment('rest', part))).join('/')
}
`
