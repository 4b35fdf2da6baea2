import { Buffer } from 'node:buffer'
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { defaultTypes } from '../../http/response/headers.ts'
import type { FrameworkError } from '../../support/errors.ts'
import { BadRequestError, MethodNotAllowedError, PayloadTooLargeError } from '../../support/errors.ts'
import { isBun } from '../../support/runtime-name.ts'
import type { ListenOptions } from '../adapter.ts'
import { HeaderTooLargeError, lateRequest } from '../head.ts'
import { pipelineOf } from './pipelining.ts'

/** The methods that a server can have; only for responses that are sent before a route is known. */
const allow = 'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY, OPTIONS'

/** Makes responses for connections without a request object. */
type Refusals = Pick<ListenOptions, 'failures' | 'onWarning'>

/** Answers a request that the HTTP parser refused, if the client can still read it, and closes the connection. */
export function refuseConnection(error: Error & { code?: string }, socket: Duplex, how: Refusals): void {
  const code = error.code ?? ''
  const timedOut = code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const isRefused = timedOut || code.startsWith('HPE_')
  const { _httpMessage: current, server } = socket as Duplex & { _httpMessage?: ServerResponse | null; server: Server }
  const again = () => refuseConnection(error, socket, how)
  if (timedOut && pipelineOf(socket).postpone(again, server)) return
  if (isRefused && current?.req.complete) return void pipelineOf(socket).endAfter(current, again)
  // After resets, failed handshakes and write errors, no client is listening; a head that has begun must not be followed by a second one.
  if (!isRefused || !socket.writable || current?.headersSent) return void socket.destroy()
  // An early 408 on a connection without any bytes would be read as the response to its first request.
  // Bun does not count bytes, and does not show a connection without any.
  if (timedOut && !isBun && (socket as Duplex & { bytesRead?: number }).bytesRead === 0) socket.destroy()
  else write(socket, (mistakes[code] ?? invalid)(), how)
}

const mistakes: Readonly<Record<string, () => FrameworkError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: lateRequest,
  HPE_HEADER_OVERFLOW: () => HeaderTooLargeError('the head of the request is too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () => PayloadTooLargeError('16 kB of chunk extensions'),
}
const invalid = () => BadRequestError('the request is not valid HTTP/1.1')

/** `CONNECT` would turn the server into a proxy; it never reaches the kernel because there is no response object for it. */
export function refuseConnect(target: string | undefined, socket: Duplex, how: Refusals): void {
  write(socket, MethodNotAllowedError('CONNECT', target ?? ''), how, `Allow: ${allow}\r\n`)
}

function write(socket: Duplex, error: FrameworkError, { failures, onWarning }: Refusals, extra = ''): void {
  const { status } = error
  const answer = failures.answer(failures.of(error), undefined, (cause, message) => onWarning(message, cause))
  const { body = '', headers } = answer ?? {}
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = headers?.['content-type'] ?? defaultTypes.json
  const head =
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${extra}Content-Type: ${type}\r\n` +
    `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n`
  socket.end(head + text, () => socket.destroy())
}
