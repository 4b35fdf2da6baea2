import { defineError } from '../support/errors.ts'
import { connectionHeaders } from './connection-headers.ts'
import { isStream } from './dispose.ts'
import type { StreamBody } from './raw.ts'
import type { KernelResponse } from './response-buffer.ts'

export const UnsendableResponseError = defineError(
  'UnsendableResponseError',
  500,
  (why: string) => `the web Response cannot be sent: ${why}`,
)

/**
 * Sends what the web knows as a body, and JSON would write as `{}`: a `Response`, a `Blob`, a form, a buffer. `false` for
 * every other object, which is left to JSON.
 *
 * They are told by their tag: naming the classes would make Node.js load its fetch, 30 ms of CPU and 9 MB, for every server.
 */
export function sendWebBody(res: KernelResponse, body: object, status: number): boolean {
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
      return sendResponse(res, new globalThis.Response(body as FormData), status === 0 ? res.statusCode : status)
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
    // A Blob of Bun may lie elsewhere, and not know its size.
    if (Number.isSafeInteger(blob.size)) res.setHeader('content-length', blob.size)
  }
  res.answer('stream', blob.stream() as StreamBody, status)
  return true
}

/** `status` is that of the response itself unless it is given. */
function sendResponse(res: KernelResponse, response: globalThis.Response, status: number): boolean {
  const { headers, body } = response
  if (typeof headers?.forEach !== 'function' || (body && !isStream(body))) return false
  if (res.answered) {
    if (body) res.answer('stream', body)
    else res.answer('empty', undefined)
    return true
  }
  if (response.bodyUsed || (body as ReadableStream | null)?.locked) {
    throw UnsendableResponseError('its body was read already. Send response.clone(), or what was read')
  }
  if (status === 0 && !(response.status >= 200 && response.status <= 599)) {
    throw UnsendableResponseError(
      `its status is ${response.status}, and an answer has one from 200 to 599. Look at response.type and response.ok first`,
    )
  }
  copyHeaders(res, response)
  res.answer(body ? 'stream' : 'empty', body ?? undefined, status === 0 ? response.status : status)
  return true
}

function copyHeaders(res: KernelResponse, { headers, url, body }: globalThis.Response): void {
  const dropped = connectionHeaders(headers.get('connection'))
  const encoding = headers.get('content-encoding')
  const decoded = body !== null && url !== '' && encoding !== null && isDecodedByFetch(encoding)
  // The length of what came over the wire is not that of what it was decoded to.
  if (decoded) dropped.add('content-encoding').add('content-length')
  headers.forEach((value, name) => {
    if (dropped.has(name)) return
    if (name === 'set-cookie') res.appendHeader(name, value)
    else if (name === 'vary') res.vary(...value.split(/, */))
    else res.setHeader(name, value)
  })
}

/** What `fetch` of this runtime takes off the body, measured; the header stays, and would send clients to decode again. */
function isDecodedByFetch(encoding: string): boolean {
  const codings = ['gzip', 'br']
  if (!('Deno' in globalThis)) {
    codings.push('x-gzip', 'deflate')
    // Node.js has it since 24, and Bun says that it is a later one.
    if (Number.parseInt(process.versions.node, 10) >= 24) codings.push('zstd')
  }
  return encoding.split(',').every((coding) => codings.includes(coding.trim().toLowerCase()))
}
