import type { StreamBody, TakeOver } from '../raw.ts'
import type { HeaderPreset, HeaderValue } from './headers.ts'
import type { StatusName } from './statuses.ts'

/** The options of `res.file`. */
export interface FileOptions {
  /** The folder that must contain the file, after symbolic links are resolved; `path` is then relative to it. */
  root?: string
}

/** One server-sent event; `data` other than a string is sent as JSON. */
export interface SseMessage {
  /** The payload; a string is sent line by line, anything else as JSON. */
  data: unknown
  /** The type that the client listens for; `message` if it is left out. */
  event?: string
  /** What a client that reconnects sends back as `Last-Event-ID`. */
  id?: string
  /** Milliseconds after which the client reconnects. */
  retry?: number
}

type Shorthands = {
  /** Answers with the status that the method is named after; without an argument, the body is empty. */
  // The type of a method, so that the response of a route with typed bodies is still a Response.
  [Name in StatusName]: { answer(body?: unknown): Response }['answer']
}

/**
 * The response to one request. Nothing is sent until the chain has run: members can be changed until then. Each common status has a method
 * with its name ({@link StatusName}), which sets the status and sends its argument: `res.created({ id: 7 })`, `res.notFound()`.
 *
 * Answering twice keeps the first response and logs a warning that names the route. Plugins add members by merging into
 * this interface.
 */
export interface Response extends Shorthands {
  /** Sets the status; the default is 200. */
  status(code: number): Response
  /** The status that was set or preset; 200 before that. */
  readonly statusCode: number
  /** Whether a response was given, with or without a body. */
  readonly answered: boolean
  /** Whether the client left before it was answered, in `onResponse` hooks and when the trace of the request ends; false before that. */
  readonly aborted: boolean
  /** The body as it was given, before serialisation. */
  readonly payload: unknown
  /** The number of bytes of the body that were sent, in `onResponse` hooks; `undefined` elsewhere, and for a stream of unknown length. */
  readonly bodySize: number | undefined
  /** Sets a header; throws for a name or value with CR, LF, NUL or characters above U+00FF. */
  header(name: string, value: HeaderValue): Response
  /** The same as `header`, under the name that `node:http` uses. */
  setHeader(name: string, value: HeaderValue): Response
  /** Sets headers that `presetHeaders` has already checked. */
  setHeaders(preset: HeaderPreset): Response
  /** The value of a header by its case-insensitive name, `undefined` if it is not set; for `set-cookie`, a list. */
  getHeader(name: string): string | readonly string[] | undefined
  /** All headers that were set: a new object without a prototype, with names in lower case. */
  getHeaders(): Record<string, string | readonly string[]>
  /** Removes a header; without a `content-type`, the response has that of its body. */
  removeHeader(name: string): Response
  /** Adds a value to a header: to its list, or as a further line of `set-cookie`. */
  appendHeader(name: string, value: string): Response
  /** Adds names to `Vary`, each once. */
  vary(...names: string[]): Response
  /** Sets the content type; short forms (`'json'`, `'html'`) are known. */
  type(type: string): Response
  /** Answers with JSON, `application/json; charset=utf-8`, also for a string. Without an argument, the body is empty. */
  json(body?: unknown): Response
  /** Answers with JSON, also for a string; bytes, streams, a web `Response`, a `Blob` and forms are sent as they are. */
  send(body?: unknown): Response
  /** Answers with a string as `text/plain; charset=utf-8`, if no other type was set. */
  text(body: string): Response
  /** Answers with a string as `text/html; charset=utf-8`, if no other type was set. The caller has to escape values in it. */
  html(body: string): Response
  /** Answers with bytes as `application/octet-stream`, if no other type was set. */
  bytes(body: Uint8Array): Response
  /** Answers with a stream, read as fast as the client receives it. If it fails after the head was sent, the connection is cut. */
  stream(body: StreamBody): Response
  /** Answers with server-sent events from an async iterable: strings or `{ data, event?, id?, retry? }`. */
  sse(events: AsyncIterable<string | SseMessage>): Response
  /**
   * Sends a file with the media type of its extension; if it is missing or not a regular file, the response is 404 `FileNotFoundError`. With
   * `root`, sends only files in that folder.
   */
  file(path: string, options?: FileOptions): Promise<Response>
  /** Sends bytes or a file as a download with a file name; bytes get the media type of the name's ending. */
  download(pathOrBytes: string | Uint8Array, filename?: string, options?: FileOptions): Promise<Response>
  /** Sends a file as a download with its own name. */
  download(path: string, options: FileOptions): Promise<Response>
  /**
   * The body as it will be sent, `null` for none: JSON is written here, by the serialiser of the route, and `content-type` is set.
   * For hooks and middlewares that compress or store responses.
   */
  encode(): string | Uint8Array | StreamBody | null
  /** Replaces the body; status and headers stay. The caller has to close a replaced stream. */
  replaceBody(body: string | Uint8Array | StreamBody): Response
  /**
   * Answers with a `Location` and an empty body; the default status is 302. The URL is encoded but not checked: do not pass on
   * a URL that a client sent.
   */
  redirect(url: string, status?: 301 | 302 | 303 | 307 | 308): Response
  /** Answers 204 without a body. */
  noContent(): Response
  /**
   * Answers 101 and hands the connection over to another protocol, for a plugin that has declared it with `ctx.upgrades`; the headers
   * that were set are sent with the 101. The connection is handed over after the `onSend` hooks.
   */
  upgrade(takeOver: TakeOver): Response
}
