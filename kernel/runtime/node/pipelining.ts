import { AsyncResource } from 'node:async_hooks'
import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { systemClock } from '../../support/clock.ts'
import type { OpenSocket } from './direct.ts'
import { lingerAfter } from './linger.ts'

/** How many requests of one connection are in progress at the same time, in addition to the first one. */
const mostInWork = 16

/** How many bytes of responses a client may leave unread: above that, no further request of its connection begins or is read. */
const mostUnsent = 262_144

/** How many requests after the last one are parsed and dropped, before the connection is no longer read. */
const mostDropped = 100

/** A parsed request, and the function that begins it. */
interface Turn {
  readonly response: ServerResponse
  begin: () => void
}

const pipelines = new WeakMap<Duplex, Pipeline>()

/** The pipeline of a connection. It does not exist while each request waits for the response to the one before. */
export function pipelineOf(socket: Duplex): Pipeline {
  let pipeline = pipelines.get(socket)
  if (pipeline === undefined) {
    pipeline = new Pipeline(socket as OpenSocket)
    pipelines.set(socket, pipeline)
  }
  return pipeline
}

/** Node.js fires a longer timer at once. */
const after = (ms: number, run: () => void) => setTimeout(run, Math.min(ms, 2 ** 31 - 1)).unref()

/** Calls back when all requests of a connection, or all before a given one, have their responses; immediately if none is in progress. */
export function whenAnswered(socket: Duplex, run: () => void, before?: ServerResponse): void {
  const current = (socket as OpenSocket)._httpMessage
  // `node:http` passes the connection to the next response within the same event, before this code runs.
  if (current && current !== before) current.once('finish', () => whenAnswered(socket, run, before))
  else if (socket.writable) run()
}

/**
 * The requests that a client sends without waiting for responses.
 *
 * `node:http` starts all requests of one piece of data and keeps their responses in order. It does not decide how
 * many begin (2000 requests of 26 bytes each arrive in one piece; with responses of 1 MB they took 2 GB), nor what happens
 * to requests after a response that ends the connection (they began, and were never answered). This class decides both.
 */
export class Pipeline {
  readonly #socket: OpenSocket
  /** The responses that have begun and were not sent in full at the last check; in order. */
  #begun: ServerResponse[] = []
  readonly #waiting: Turn[] = []
  #inWork = 0
  #unsent = 0
  /** The length from which checking `#begun` is worthwhile. */
  #lookAt = 64
  #isAdvancing = false
  #isHeld = false
  /** When it was read again, by `systemClock.monotonic()`. */
  #readSince = Number.NEGATIVE_INFINITY
  /** Begins the time again of what was too late while it was not read. */
  #measure: (() => void) | undefined
  /** The response after whose end further requests begin. */
  #awaited: ServerResponse | undefined
  /** The last response: no request begins after it. */
  #last: ServerResponse | undefined
  #dropped = 0

  constructor(socket: OpenSocket) {
    this.#socket = socket
    socket.once('close', () => {
      this.#waiting.length = 0
      // Until Node.js 22, only the first response learns that its client has left.
      for (const response of this.#begun) {
        if (response.destroyed || response.writableFinished) continue
        response.destroyed = true
        response.emit('close')
      }
    })
  }

  /** Called for a request that has arrived while the previous one is not answered yet. */
  take(turn: Turn): void {
    if (this.#last !== undefined) return void this.#drop()
    const newest = this.#begun.at(-1)
    if (this.#waiting.length === 0 && (newest === undefined || newest.writableFinished)) this.#restart()
    this.#waiting.push(turn)
    this.#advance()
    // Waiting requests begin at the end of another one, and would run in its context: a handler would read the tenant or the
    // user of another client from an `AsyncLocalStorage`.
    if (this.#waiting.at(-1) === turn) turn.begin = AsyncResource.bind(turn.begin)
  }

  /** Called when a request that this pipeline received has its response. */
  answered(response: ServerResponse): void {
    this.#inWork--
    this.#unsent += response.writableLength
    if (this.#waiting.length > 0) this.#advance()
  }

  /**
   * Called for a response that ends its connection: no further request begins, and the last response in progress announces the end.
   * Returns whether that is this response.
   */
  endsWith(response: ServerResponse): boolean {
    if (this.#last === undefined) {
      this.#waiting.length = 0
      this.#look()
      this.#endAfter(this.#begun.at(-1) ?? response, response)
      this.#release()
    }
    return this.#last === response
  }

  /**
   * Called when the bytes after `current`, the first request, are not HTTP. Whole requests get their responses, and nothing comes
   * after them; `refuse` is called when a request that breaks off halfway is the next to be answered.
   */
  endAfter(current: ServerResponse, refuse: () => void): void {
    if (this.#last !== undefined) return
    this.#look()
    const all = [...this.#begun, ...this.#waiting.map(({ response }) => response)]
    const newest = all.at(-1) ?? current
    const before = all.at(-2) ?? current
    if (newest.req.complete) return void this.#endAfter(newest)
    this.#last = newest
    if (this.#waiting.at(-1)?.response === newest) this.#waiting.pop()
    before.once('finish', refuse)
  }

  /**
   * Called when the head or the body that is arriving is too late. While this connection is not read, that is not the fault of its client: the time
   * begins again when it is read again. `node:http` no longer measures this request, neither its head nor its body. Returns whether that is so.
   */
  postpone(refuse: () => void, { headersTimeout, requestTimeout }: Server): boolean {
    // Once all earlier requests have their responses, the parser has none.
    const isHead = this.#socket.parser?.incoming?.complete !== false
    const limit = isHead ? headersTimeout : requestTimeout
    const measure = (ms = limit) => {
      // Without one, the connection has ended.
      const { parser } = this.#socket
      if (!parser) return
      const { incoming, onIncoming } = parser
      const body = (message: typeof incoming, left: number) =>
        after(left, () => parser.incoming === message && !message?.complete && refuse())
      if (!isHead) return void body(incoming, ms)
      const late = after(ms, refuse)
      parser.onIncoming = (message, keep) => {
        parser.onIncoming = onIncoming
        clearTimeout(late)
        body(message, requestTimeout)
        return onIncoming(message, keep)
      }
    }
    const left = this.#readSince + limit - systemClock.monotonic()
    if (this.#isHeld) this.#measure = measure
    else if (left > 0) measure(left)
    return this.#isHeld || left > 0
  }

  #endAfter(last: ServerResponse, ending?: ServerResponse): void {
    this.#last = last
    // Bytes that are still arriving must not reset a connection whose responses the client has not read.
    if (this.#begun.length > 0) lingerAfter(this.#socket)
    if (last === ending) return
    if (!last.headersSent) last.shouldKeepAlive = false
    else last.once('finish', () => this.#socket.destroySoon())
  }

  /** Drops a request: its client learns that the connection ends, and may send the request again on another one. */
  #drop(): void {
    if (this.#dropped === 0) lingerAfter(this.#socket)
    if (++this.#dropped > mostDropped) this.#socket.pause()
  }

  #restart(): void {
    const current = this.#socket._httpMessage
    this.#begun = current ? [current] : []
    this.#unsent = current?.writableLength ?? 0
  }

  #advance(): void {
    // An immediate response calls this method again.
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    while (this.#waiting.length > 0 && this.#hasRoom()) {
      const turn = this.#waiting.shift()!
      this.#begun.push(turn.response)
      this.#inWork++
      turn.begin()
    }
    this.#isAdvancing = false
    if (this.#waiting.length > 0) this.#hold()
    else this.#release()
  }

  #hasRoom(): boolean {
    // The response of a connection that was cut ends before its 'close'.
    if (this.#inWork >= mostInWork || this.#socket.destroyed) return false
    if (this.#unsent >= mostUnsent || this.#begun.length >= this.#lookAt) this.#look()
    return this.#unsent < mostUnsent
  }

  #look(): void {
    this.#begun = this.#begun.filter((response) => !response.writableFinished)
    this.#unsent = this.#begun.reduce((sum, response) => sum + response.writableLength, 0)
    this.#lookAt = Math.max(64, this.#begun.length * 2)
  }

  #hold(): void {
    if (!this.#isHeld) {
      this.#isHeld = true
      this.#socket.on('resume', this.#pause)
      this.#socket.pause()
    }
    const newest = this.#begun.at(-1)
    if (newest === this.#awaited) return
    this.#awaited = newest
    newest?.once('finish', () => this.#advance())
  }

  #release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#readSince = systemClock.monotonic()
    this.#measure?.()
    this.#measure = undefined
    this.#socket.off('resume', this.#pause)
    // If `node:http` has also paused the socket, it resumes it itself.
    if (!this.#socket._paused) this.#socket.resume()
  }

  /** `node:http` resumes reading whenever the client has taken some bytes: enough each time to fill the memory again. */
  readonly #pause = (): void => {
    // A scheduled resume runs after the pause; pausing a paused socket notifies no reader.
    if (this.#socket.isPaused()) this.#socket.emit('pause')
    else this.#socket.pause()
  }
}
