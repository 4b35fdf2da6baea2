import { HeaderBag } from '../../../kernel/http/response/headers.ts'
import type { Bodies, KernelResponse } from '../../../kernel/http/response/response-buffer.ts'
import { disposeStream, isStream } from '../../../kernel/http/streams.ts'
import { defineErrors, type SseMessage, type StreamBody, toJson } from '../../../kernel/index.ts'
import { connectionHeaders } from './connection-headers.ts'
import { mediaType } from './media-types.ts'
import { download, sendFile } from './sent-file.ts'

export { afterwards } from '../../../kernel/http/response/response-buffer.ts'

export const { UnsendableResponseError } = defineErrors({
  UnsendableResponseError: (why: string) => `the web Response cannot be sent: ${why}`,
})

/**
 * Sends body objects of the web platform, which JSON would write as `{}`: a `Response`, a `Blob`, a form, a buffer. Returns `false`
 * for every other object, which becomes JSON.
 *
 * They are recognised by their tag: naming the classes would make Node.js load its fetch, 30 ms of CPU and 9 MB, on every server.
 */
function sendObject(res: KernelResponse, body: object, status: number): boolean {
  if (ArrayBuffer.isView(body)) {
    res.answer('bytes', new Uint8Array(body.buffer, body.byteOffset, body.byteLength), status)
    return true
  }
  switch ((body as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]) {
    case 'ArrayBuffer':
    case 'SharedArrayBuffer':
      res.answer('bytes', new Uint8Array(body as ArrayBuffer), status)
      return true
    case 'Blob':
    case 'File':
      return sendBlob(res, body as Blob, status)
    case 'URLSearchParams':
      if (!res.answered) describe(res, 'application/x-www-form-urlencoded; charset=utf-8')
      res.answer('text', String(body), status)
      return true
    case 'FormData':
      return sendResponse(res, new globalThis.Response(body as FormData), status)
    case 'Response':
      return sendResponse(res, body as globalThis.Response, status)
    default:
      return false
  }
}

function describe(res: KernelResponse, type: string): void {
  if (type !== '' && res.getHeader('content-type') === undefined) res.setHeader('content-type', type)
}

function sendBlob(res: KernelResponse, blob: Blob, status: number): boolean {
  if (typeof blob.stream !== 'function') return false
  if (!res.answered) {
    describe(res, blob.type)
    // A Blob of Bun may refer to a file or a store and not know its size.
    if (Number.isSafeInteger(blob.size)) res.setHeader('content-length', blob.size)
  }
  res.answer('stream', blob.stream() as StreamBody, status)
  return true
}

/** Sends a web `Response`. The `status` of a shorthand takes precedence; a default of 200 does not replace a status that was set. */
function sendResponse(res: KernelResponse, response: globalThis.Response, status: number): boolean {
  const { headers, body } = response
  if (typeof headers?.forEach !== 'function' || (body && !isStream(body))) return false
  if (!res.answered) {
    try {
      checkSendable(response, status)
      copyHeaders(res, response)
    } catch (error) {
      // It will not be read, and its connection would stay open.
      if (body) disposeStream(body)
      throw error
    }
  }
  const code = status !== 0 || (res.code !== 0 && response.status === 200) ? status : response.status
  res.answer(body ? 'stream' : 'empty', body ?? undefined, code)
  return true
}

function checkSendable({ bodyUsed, body, status }: globalThis.Response, shorthand: number): void {
  if (bodyUsed || body?.locked)
    throw UnsendableResponseError('its body was already read. Send response.clone(), or what you have read')
  if (shorthand === 0 && !(status >= 200 && status <= 599)) {
    throw UnsendableResponseError(
      `its status is ${status}, but a response needs one from 200 to 599. Check response.type and response.ok first`,
    )
  }
}

function copyHeaders(res: KernelResponse, { headers, url, body }: globalThis.Response): void {
  const dropped = connectionHeaders(headers.get('connection'))
  const encoding = headers.get('content-encoding')
  const decoded = body !== null && url !== '' && encoding !== null && isDecodedByFetch(encoding)
  // The length of the encoded bytes differs from that of the decoded ones.
  if (decoded) dropped.add('content-encoding').add('content-length')
  // All headers are checked before the first is set: otherwise the response to a failure would have half of them.
  const checked = new HeaderBag()
  headers.forEach((value, name) => {
    if (!dropped.has(name)) checked.append(name, value)
  })
  for (const [name, value] of Object.entries(checked.all())) {
    if (name === 'set-cookie') for (const one of value) res.appendHeader(name, one)
    else if (name === 'vary') res.vary(...String(value).split(/, */))
    else res.setHeader(name, value as string)
  }
  // Bun adds the type of a string body only in its own server, where it cannot be read.
  if (body !== null && url === '' && 'Bun' in globalThis) describe(res, 'text/plain; charset=utf-8')
}

/**
 * Releases a value that a handler returned and that is not sent, because there is already a response. A stream may be in use
 * by a handler that has responded itself; where the request was given up, the stream is not needed.
 */
function discard(value: unknown, res: KernelResponse): void {
  const isResponse = (value as { [Symbol.toStringTag]?: unknown } | null)?.[Symbol.toStringTag] === 'Response'
  const isUnused = isResponse || res.request.givenUp
  const body = isResponse ? (value as globalThis.Response).body : value
  if (isUnused && isStream(body) && body !== res.payload) disposeStream(body)
}

/** Whether `fetch` of this runtime decodes an encoding, as measured; the header stays, and would make clients decode again. */
function isDecodedByFetch(encoding: string): boolean {
  const codings = ['gzip', 'br']
  if (!('Deno' in globalThis)) {
    codings.push('x-gzip', 'deflate')
    // Node.js has decoded it since 24, and Bun claims to be a later version.
    if (Number.parseInt(process.versions.node, 10) >= 24) codings.push('zstd')
  }
  const listed = encoding.split(',')
  // For two encodings, only Node.js decodes both; the others decode neither.
  if (listed.length > 1 && ('Deno' in globalThis || 'Bun' in globalThis)) return false
  return listed.every((coding) => codings.includes(coding.trim().toLowerCase()))
}

/** What every server can respond with besides JSON, strings, bytes and streams. */
export const bodies: Bodies = { mediaType, sendObject, discard, sendFile, download, sendEvents }

/** A line break in a field, even a single CR, would let its text forge the next field or event. */
const oneLine = (text: string): string => text.replace(/[\r\n\0]+/g, ' ')

function encode(message: string | SseMessage): string {
  const { data, event, id, retry } = typeof message === 'string' ? { data: message } : (message as SseMessage)
  let text = ''
  if (event !== undefined) text += `event: ${oneLine(event)}\n`
  if (id !== undefined) text += `id: ${oneLine(id)}\n`
  if (retry !== undefined) text += `retry: ${Math.trunc(retry)}\n`
  const body = typeof data === 'string' ? data : data === undefined ? '' : toJson(data)
  for (const line of body.split(/\r\n|\r|\n/)) text += `data: ${line}\n`
  return `${text}\n`
}

/** Sends a sequence of events. */
function sendEvents<Res extends KernelResponse>(res: Res, events: AsyncIterable<string | SseMessage>): Res {
  if (!isStream(events)) throw new TypeError('res.sse takes an async iterable of events, such as an async generator')
  if (!res.answered) {
    res.setHeader('content-type', 'text/event-stream; charset=utf-8')
    res.setHeader('cache-control', 'no-cache')
    // nginx would hold events back until its buffer is full.
    res.setHeader('x-accel-buffering', 'no')
  }
  return res.answer('stream', encoded(events))
}

/** The wire form of a sequence of events. */
async function* encoded(events: AsyncIterable<string | SseMessage>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  // Bun sends the head with the first chunk: without a chunk, a client would not know that it is connected.
  if ('Bun' in globalThis) yield encoder.encode(':\n\n')
  for await (const event of events) yield encoder.encode(encode(event))
}
