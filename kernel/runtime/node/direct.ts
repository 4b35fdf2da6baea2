import { Buffer } from 'node:buffer'
import { IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import { declaredLength } from '../sending.ts'

/** The undocumented members of a response that this module relies on; `probe.ts` checks that they behave as expected. */
export interface OpenResponse extends ServerResponse {
  _header: string | null
  _headerSent: boolean
  _hasBody: boolean
  _defaultKeepAlive: boolean
  _removedConnection: boolean
  _expect_continue: boolean
  _keepAliveTimeout: number
  readonly outputData: readonly unknown[]
  [state: symbol]: unknown
  _storeHeader(firstLine: string, headers: unknown): void
  _finish(): void
}

/** The undocumented members of a socket that this module relies on. */
export interface OpenSocket extends Socket {
  _httpMessage?: ServerResponse | null
  _hadError?: boolean
  _paused?: boolean
  /** `incoming`: the last message whose head has arrived; `onIncoming` is called with the next. */
  parser?: { incoming?: IncomingMessage | null; onIncoming(next: IncomingMessage, keep: boolean): unknown } | null
}

type Encoding = 'latin1' | 'utf8'

/** Sends head and body together. */
export type Sending = (
  response: OpenResponse,
  socket: OpenSocket,
  head: string,
  body: string,
  encoding: Encoding,
) => void

/** Sends a response with a string as its body and returns true; or does nothing and returns false, for the ordinary path. */
export type DirectWriter = (
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  body: string,
) => boolean

/** The member in which Node, since 24, stores that all of a response was passed on; earlier versions compute it. */
const handedOver = Object.getOwnPropertySymbols(new ServerResponse(new IncomingMessage(new Socket()))).find(
  ({ description }) => description === 'kWritableFinished',
)

/**
 * Sends both in one write, without the checks that have already been done. Until Node 22, the ordinary path makes two writes, the second
 * empty and only there to report the end.
 */
export const writeOnce: Sending = (response, socket, head, body, encoding) => {
  response._header = head
  response._headerSent = true
  const isLarge = body.length >= largeFrom && body.length <= largest && socket.writableCorked === 0
  socket.write(isLarge ? inSpare(head, body, encoding) : head + body, encoding, (error) => {
    // Node 22 reports that a client has left, as 24 does, but its `node:http` ignores it: there, the response counts as finished.
    if (error && handedOver !== undefined) return
    // If the response no longer has the socket, its end has already been reported.
    if (!socket._hadError && response.socket === socket) reportEnd(response)
  })
  // The system has not accepted all of it: it will read this memory later.
  if (isLarge && socket.writableLength > 0) spare = none
  response.finished = true
  response._finish()
  newest = response
}

/** The length from which Node allocates memory for each string that it writes. */
const largeFrom = 16_384 - 2_048
/** The most memory that is kept for the next response. */
const largest = 1_048_576
const none = Buffer.alloc(0)
/** Memory of a large response that the system took at once, kept for the next one: a list of 115 kB costs 0.93 to 0.96 times as much. */
let spare = none

function inSpare(head: string, body: string, encoding: Encoding): Uint8Array {
  const size = head.length + (encoding === 'latin1' ? body.length : Buffer.byteLength(body))
  if (spare.length < size) spare = Buffer.allocUnsafeSlow(size)
  spare.write(head, 0, 'latin1')
  spare.write(body, head.length, encoding)
  return spare.subarray(0, size)
}

function reportEnd(response: OpenResponse): void {
  if (response === newest) newest = undefined
  if (handedOver !== undefined) response[handedOver] = true
  response.emit('finish')
}

/** The response that was written last, until its end is reported. */
let newest: OpenResponse | undefined
/** The socket that holds responses until the end of this turn, to send them in one write. */
let collecting: OpenSocket | undefined

/** How many bytes may wait for the end of the turn; a client that does not read must not fill the memory. */
const mostCollected = 65_536

/**
 * For a request that arrived in one piece with the previous one: reports the end of the previous response now, so that this response gets
 * the socket immediately, and collects the responses of this turn for one write. Returns whether `response` now has the socket: it does
 * not if the previous response was not written here, was not written in full, or was the last of its connection.
 *
 * `node:http` reports the end of a response a tick after it was written. Until then, the responses to further requests are queued, and are
 * sent one by one, each with a tick and a system call of its own: ten at a time cost 2.2 times as much.
 */
export function makeWay(socket: OpenSocket, response: ServerResponse): boolean {
  if (newest === undefined || socket._httpMessage !== newest || socket._hadError) return false
  if (socket.writableLength > (socket === collecting ? mostCollected : 0)) return false
  if (collecting === undefined) {
    collecting = socket
    socket.cork()
    process.nextTick(sendCollected)
  }
  reportEnd(newest)
  return response.socket !== null
}

function sendCollected(): void {
  const socket = collecting
  collecting = undefined
  socket?.uncork()
}

const { writeHead, write, end, _storeHeader } = ServerResponse.prototype as OpenResponse

/** Whether the bypassed methods are those of Node. A monitoring agent that was loaded first has replaced them by now. */
export function areNodesOwn(): boolean {
  const contains = (method: unknown, part: string) => Function.prototype.toString.call(method).includes(part)
  return (
    contains(writeHead, 'ERR_HTTP_HEADERS_SENT') &&
    contains(write, 'write_(') &&
    contains(end, 'ERR_STREAM_WRITE_AFTER_END') &&
    contains(_storeHeader, 'processHeader(') &&
    contains(IncomingMessage.prototype.push, 'readableAddChunk') &&
    contains(IncomingMessage.prototype.on, 'readableListening')
  )
}

export function directWriter(send: Sending): DirectWriter {
  return (response, status, headers, body) => {
    const open = response as OpenResponse
    const socket = open.socket as OpenSocket | null
    if (socket === null || body === '' || !isPlain(open, socket)) return false
    // Without a length, Node would send the body in chunks.
    const length = declaredLength(headers)
    const head = length === undefined ? undefined : headOf(status, headers)
    if (head === undefined) return false
    open.statusCode = status
    open.statusMessage = STATUS_CODES[status]!
    // As many bytes as characters: all of them are ASCII, for which latin1 is the fastest encoding.
    send(
      open,
      socket,
      head + date() + persistence(open._keepAliveTimeout),
      body,
      length === body.length ? 'latin1' : 'utf8',
    )
    return true
  }
}

/** Whether this response is an ordinary one: it is the next one on its connection, which is kept, and no other code has touched it. */
function isPlain(response: OpenResponse, socket: OpenSocket): boolean {
  const { req } = response
  return (
    socket._httpMessage === response &&
    socket.writable &&
    socket.writableCorked === (socket === collecting ? 1 : 0) &&
    response._header === null &&
    response.outputData.length === 0 &&
    !response.finished &&
    !response.destroyed &&
    response._hasBody &&
    response.shouldKeepAlive &&
    response._defaultKeepAlive &&
    !response._removedConnection &&
    !response._expect_continue &&
    response.sendDate &&
    !response.strictContentLength &&
    req.httpVersionMajor === 1 &&
    req.httpVersionMinor === 1 &&
    // A monitoring agent may have replaced these methods, on the prototype or on this one response, or have set a header.
    response.writeHead === writeHead &&
    response.write === write &&
    response.end === end &&
    response._storeHeader === _storeHeader &&
    response.statusMessage === undefined &&
    response.getHeaderNames().length === 0
  )
}

const statusLines: string[] = []
for (const code of Object.keys(STATUS_CODES).map(Number)) {
  if (code >= 200 && code !== 204 && code !== 304) statusLines[code] = `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\n`
}

const unusual = /[^ -~]/
const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
/** Headers that make Node change a response or the connection. */
const special = ['connection', 'date', 'expect', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade']

/** A header as it was last written: most headers have the same value in every response, and are checked and joined once. */
interface Line {
  readonly isPlain: boolean
  value: string | undefined
  text: string
}

const lines = new Map<string, Line>()

/** The longest header that is kept: cookies and the like differ each time, and may be long. */
const longestKept = 256

function lineOf(name: string): Line {
  const known = lines.get(name)
  if (known !== undefined) return known
  const line = { isPlain: token.test(name) && !special.includes(name), value: undefined, text: '' }
  // Names may come from input; memory must not grow with it.
  if (lines.size < 500) lines.set(name, line)
  return line
}

/** The head without its end; `undefined` where Node has more to write in it. */
function headOf(status: number, headers: readonly string[]): string | undefined {
  let head = statusLines[status]
  if (head === undefined) return undefined
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    const line = lineOf(name)
    if (value !== line.value) {
      // The kernel has already checked values; they are checked again, because this is where a line break would split a response.
      if (!line.isPlain || unusual.test(value)) return undefined
      const text = `${name}: ${value}\r\n`
      head += text
      if (value.length > longestKept) continue
      line.value = value
      line.text = text
    } else head += line.text
  }
  return head
}

let second = 0
let dateLine = ''

/** The date, kept up to date by the clock and not by a timer: a test's fake timers would stop it for ever. */
function date(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    dateLine = `Date: ${new Date(now * 1000).toUTCString()}\r\n`
  }
  return dateLine
}

let keptFor = -1
let persistenceLines = ''

function persistence(timeout: number): string {
  if (timeout !== keptFor) {
    keptFor = timeout
    const announced = timeout > 0 ? `Keep-Alive: timeout=${Math.floor(timeout / 1000)}\r\n` : ''
    persistenceLines = `Connection: keep-alive\r\n${announced}\r\n`
  }
  return persistenceLines
}
