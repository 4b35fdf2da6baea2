// How typed clients send calls and read responses. The client of a contract imports this file, and generated clients, which import
// nothing, contain its text: all of it is published as it is here.

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
export async function send(
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

export function address({ baseUrl = '' }: ClientOptions, path: string): string {
  return baseUrl.replace(/\/+$/, '') + path
}

export async function headersOf(client: ClientOptions, own: CallOptions): Promise<Headers> {
  const common = typeof client.headers === 'function' ? await client.headers() : client.headers
  const headers = new Headers()
  for (const [name, value] of [...Object.entries(common ?? {}), ...Object.entries(own.headers ?? {})]) {
    if (value !== undefined && value !== null) headers.set(name, String(value))
  }
  return headers
}

export function signalOf(client: ClientOptions, own: CallOptions): AbortSignal {
  const timeout = own.timeout ?? client.timeout
  const signals = [client.signal, own.signal, timeout === undefined ? undefined : AbortSignal.timeout(timeout)]
  return AbortSignal.any(signals.filter((one) => one !== undefined))
}

/** Whether a media type, in lower case, is that of one JSON value: `application/json-seq` is a sequence of them. */
export function isJson(type: string): boolean {
  return /^application\/([\w.+-]+\+)?json(?=\s*(;|$))/.test(type)
}

/** Reads the body of a response by its content type: nothing is `undefined`, but for text, where it is `emptyText`. */
export async function read(response: Response, emptyText?: ''): Promise<unknown> {
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

export function write(body: unknown, type: string | undefined, headers: Headers) {
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

export function search(query: object | undefined): string {
  const text = fill(new URLSearchParams(), query, 'query').toString()
  return text === '' ? '' : `?${text}`
}

function plain(what: string, value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') throw new TypeError(`${what} is an object, which cannot be written as text`)
  return String(value)
}

/** Encodes a parameter of a path. */
export function segment(name: string, value: unknown): string {
  const text = plain(`the parameter "${name}"`, value)
  // Every URL parser removes dots, with the segment before them, in any escaped form; half a surrogate pair is not text.
  if (text === '' || text === '.' || text === '..' || /\p{Surrogate}/u.test(text)) {
    throw new TypeError(`the parameter "${name}" is ${JSON.stringify(text)}, which cannot be sent in a path`)
  }
  return encodeURIComponent(text)
}

/** Encodes a parameter that is the rest of a path, with its slashes. */
export function rest(value: unknown, name = 'rest'): string {
  return String(value)
    .split('/')
    .map((part) => (part === '' ? '' : segment(name, part)))
    .join('/')
}
