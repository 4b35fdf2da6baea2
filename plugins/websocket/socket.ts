import { randomUUID } from 'node:crypto'
import { isPromise, type Logger, systemClock } from '../../kernel/index.ts'
import { madeIn } from '../shared/values/memoize.ts'
import type { Call } from '../shared/work/running.ts'
import { Backpressure, TokenBucket } from './backpressure.ts'
import { forSocket, handleMessage, handlerFailed } from './handlers.ts'
import { checkClose, type Opening, type SocketRoute } from './socket-route.ts'
import { compressedFrom, type Transport, type TransportEvents } from './transport/contract.ts'
import type { ServerSocket } from './types.ts'
import { sendPoint } from './work.ts'

type Handler = (socket: unknown, ...more: unknown[]) => unknown

const connectionEnded = () => new Error('the connection of the websocket has ended')

/** The client has sent something since the last ping. */
const alive = 1
/** A handler is running; messages wait meanwhile. */
const busy = 2
/** The connection has ended and its messages are handled. */
const over = 4

/** Few applications ask for the id, and a field in each socket would cost memory. */
const ids = new WeakMap<Socket, string>()

/** One client, from the moment its request is accepted. */
// Twelve fields: on Bun the thirteenth would cost 48 bytes.
export class Socket implements ServerSocket, TransportEvents {
  data: unknown
  readonly params: object
  readonly ip: string
  readonly protocol: string
  /** When it is pinged next, on the clock of `performance.now()`. */
  due = 0
  readonly #route: SocketRoute
  #transport: Transport | undefined = undefined
  #state: 'opening' | 'open' | 'closing' | 'closed' = 'opening'
  #flags = alive
  /** Created with the first message, as the next member is when needed: an idle socket must cost little. */
  #bucket: TokenBucket | undefined = undefined
  #pressure: Backpressure | undefined = undefined
  /** The call of the last handler of a message. */
  #call: Call | undefined = undefined

  constructor(route: SocketRoute, { data, params, ip, protocol }: Opening) {
    this.#route = route
    this.data = data
    this.params = params
    this.ip = ip
    this.protocol = protocol
  }

  #is(flag: number): boolean {
    return (this.#flags & flag) !== 0
  }

  #mark(flag: number, is: boolean): void {
    this.#flags = is ? this.#flags | flag : this.#flags & ~flag
  }

  get id(): string {
    return madeIn(ids, this, () => randomUUID())
  }

  /** @internal The path of its route. */
  get route(): string {
    return this.#route.path
  }

  get server(): object {
    return this.#route.server
  }

  /** @internal Whether the connection has ended and its messages are handled. */
  get isOver(): boolean {
    return this.#is(over)
  }

  /** Calls back when the connection has ended and its messages are handled; immediately if that is so. */
  whenOver(callback: () => void): void {
    if (this.isOver) callback()
    else this.#route.sockets.whenOver(this, callback)
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get buffered(): number {
    return this.#transport?.getBufferedAmount() ?? 0
  }

  get log(): Logger {
    return this.#route.log.child({ socket: this.id })
  }

  // — methods for the application —

  send(message: unknown): boolean {
    return this.sendFrame(this.#route.write(message))
  }

  /**
   * Sends a message that has already been serialised; returns whether it was sent.
   *
   * @param isNotice Whether it says what the client has missed or lost, so that a slow reader receives it in place of what is dropped.
   */
  sendFrame(frame: string | Uint8Array, isNotice = false): boolean {
    const transport = this.#transport
    if (this.#state !== 'open' || transport === undefined) return false
    const { maxBuffered, bufferLimit, slowReaders, sockets, compression } = this.#route
    const buffered = transport.getBufferedAmount()
    if (buffered > maxBuffered) {
      const isDropped = slowReaders === 'drop' && !isNotice
      if (isDropped || buffered > bufferLimit) {
        sockets.counts.dropped++
        if (!isDropped) this.close(1013, 'the client does not read')
        return false
      }
      if (slowReaders === 'wait') {
        this.#pressed().isBlocked = true
        this.#pause()
        this.#lookOut()
      }
    }
    sockets.counts.sent++
    if (sendPoint.isOn) sendPoint.publish({ socket: this, route: this.#route.path, frame })
    transport.send(frame, compression && frame.length >= compressedFrom)
    return true
  }

  drained(): Promise<void> {
    if (this.#state !== 'open' || this.buffered <= this.#route.maxBuffered) return Promise.resolve()
    return new Promise((resolve) => {
      this.#pressed().waiting.push(resolve)
      this.#lookOut()
    })
  }

  close(code = 1000, reason = ''): void {
    checkClose(code, reason)
    this.#pressure?.discard()
    this.goAway(code, reason)
  }

  /** @internal Closes, but handles the messages that have already arrived. */
  goAway(code: number, reason: string): void {
    if (this.#state === 'closing' || this.#state === 'closed') return
    const transport = this.#transport
    this.#state = 'closing'
    // Not open yet; it is closed as soon as it opens.
    if (transport === undefined) this.#pressed().closeWith = { code, reason }
    else this.#closeTransport(transport, code, reason)
  }

  #closeTransport(transport: Transport, code: number, reason: string): void {
    // The client's response would not be read while reading is paused.
    if (this.#pressure?.isPaused) transport.resume?.()
    transport.close(code, reason)
    this.#endInTime(transport)
  }

  #endInTime(transport: Transport): void {
    const terminate = () => this.#state === 'closing' && transport.terminate()
    systemClock.setTimeout(terminate, this.#route.closeTimeout).unref()
  }

  terminate(): void {
    this.#pressure?.discard()
    if (this.#transport === undefined) this.closed(1006, '')
    else this.#transport.terminate()
  }

  /** Ends a client that has sent nothing since the last ping. */
  ping(): void {
    const transport = this.#transport
    if (transport?.ping === undefined || this.#state === 'closed') return
    const pressure = this.#pressure
    // Its messages are unread because handlers are slow, so it may have responded.
    if (pressure?.isFull) return
    if (pressure !== undefined) {
      const buffered = transport.getBufferedAmount()
      // The messages of a slow reader are not read either, but if it reads, it is alive.
      if (pressure.isBlocked && buffered < pressure.bufferedAtPing) this.#mark(alive, true)
      pressure.bufferedAtPing = buffered
    }
    if (!this.#is(alive)) transport.terminate()
    else {
      this.#mark(alive, false)
      transport.ping()
    }
  }

  // — events of the transport —

  opened(transport: Transport): void {
    if (this.#state === 'closed') return void transport.terminate()
    this.#transport = transport
    this.#route.sockets.counts.opened++
    const { open } = this.#route.handlers as { readonly open?: Handler }
    const closeWith = this.#pressure?.closeWith
    if (closeWith !== undefined) return void this.#closeTransport(transport, closeWith.code, closeWith.reason)
    this.#state = 'open'
    if (open !== undefined) this.#run(() => open(this))
  }

  received(message: string | Uint8Array): void {
    this.#mark(alive, true)
    if (this.#state !== 'open') return
    const { measures, maxMessageSize } = this.#route
    if (measures && Buffer.byteLength(message) > maxMessageSize) this.close(1009, 'the message is too long')
    else if (!this.#mayAsk()) this.close(1008, 'too many messages')
    else if (this.#is(busy) || this.#pressure?.isBlocked) this.#enqueue(message)
    else this.#handle(message)
  }

  controlled(frame: 'ping' | 'pong'): void {
    this.#mark(alive, true)
    if (frame !== 'ping' || this.#state !== 'open') return
    if (!this.#mayAsk()) this.close(1008, 'too many pings')
    // The runtime responds to each ping: if a client pings and never reads, the responses would fill the memory without any message of ours.
    else if (this.buffered > this.#route.bufferLimit) this.close(1013, 'the client does not read')
  }

  relieved(): void {
    const pressure = this.#pressure
    if (pressure === undefined) return
    if (this.buffered > this.#route.maxBuffered) {
      if (pressure.isLookingOut) this.#transport?.watch?.()
      return
    }
    pressure.wake()
    if (!pressure.isBlocked) return
    pressure.isBlocked = false
    if (!this.#is(busy)) this.#handleQueue()
  }

  closing(): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#endInTime(this.#transport!)
  }

  closed(code: number, reason: string): void {
    const state = this.#state
    if (state === 'closed') return
    this.#state = 'closed'
    this.#call?.abort(connectionEnded())
    const pressure = this.#pressure
    // Whether `open` was called, so that `close` is.
    const wasOpen = state === 'open' || (state === 'closing' && pressure?.closeWith === undefined)
    if (pressure !== undefined) {
      pressure.isBlocked = false
      pressure.wake()
    }
    // `close` runs after the messages that came before it, and after the running handler, which may write data that `close` removes.
    if (this.#is(busy) || pressure?.queue !== undefined) {
      this.#pressed().ended = { code, reason }
      this.#handleQueue()
    } else this.#runClose(code, reason, wasOpen)
  }

  /** Runs `close`. The socket counts as open until its last handler has settled, and the server's end waits for it. */
  #runClose(code: number, reason: string, wasOpen: boolean): void {
    const { close } = this.#route.handlers as { readonly close?: Handler }
    this.#mark(over, true)
    this.#route.sockets.over(this)
    if (wasOpen && close !== undefined) this.#run(() => close(this, code, reason))
    if (!this.#is(busy)) this.#route.sockets.delete(this)
  }

  // — messages, one after the other —

  /** @internal Aborts the call when the connection ends; at once for a message that is handled after that. */
  abortAtEnd(call: Call): void {
    this.#call = call
    if (this.#state === 'closed') call.abort(connectionEnded())
  }

  #handle(message: string | Uint8Array): void {
    this.#run(() => handleMessage(this, this.#route, message))
  }

  #enqueue(message: string | Uint8Array): void {
    if (!this.#pressed().enqueue(message, this.#route.maxMessageSize)) return
    if (this.#transport?.pause === undefined) this.close(1008, 'too many messages are waiting for their handler')
    else this.#pause()
  }

  /** Runs a handler; messages wait while its promise is pending. */
  #run(call: () => unknown): void {
    let result: unknown
    try {
      result = forSocket(this, this.#route, call)
    } catch (error) {
      handlerFailed(this, this.#route, error)
      return
    }
    // A database query is often not a promise, but starts when it is awaited.
    if (!isPromise(result)) return
    this.#mark(busy, true)
    Promise.resolve(result).then(
      () => this.#goOn(),
      (error: unknown) => {
        handlerFailed(this, this.#route, error)
        this.#goOn()
      },
    )
  }

  #goOn(): void {
    this.#mark(busy, false)
    this.#call = undefined
    if (this.isOver) this.#route.sockets.delete(this)
    else this.#handleQueue()
  }

  #handleQueue(): void {
    const pressure = this.#pressure
    if (pressure === undefined) return
    while (!this.#is(busy) && !pressure.isBlocked) {
      const next = pressure.next()
      if (next === undefined) break
      this.#handle(next)
    }
    const { ended } = pressure
    if (ended !== undefined && !this.#is(busy) && !this.isOver) this.#runClose(ended.code, ended.reason, true)
    else this.#resume()
  }

  // — the limits —

  #mayAsk(): boolean {
    const { messagesPerSecond } = this.#route
    if (messagesPerSecond === false) return true
    this.#bucket ??= new TokenBucket(messagesPerSecond)
    return this.#bucket.take()
  }

  #pressed(): Backpressure {
    this.#pressure ??= new Backpressure()
    return this.#pressure
  }

  #pause(): void {
    const pressure = this.#pressed()
    if (pressure.isPaused) return
    pressure.isPaused = true
    this.#transport?.pause?.()
  }

  #resume(): void {
    const pressure = this.#pressure
    if (!pressure?.isPaused || pressure.isBlocked || pressure.isFull) return
    pressure.isPaused = false
    // Messages that came during the pause are read only now.
    this.#mark(alive, true)
    this.#transport?.resume?.()
  }

  /** Checks repeatedly: not every runtime reports that a client has read, and none does for less than the connection's buffer. */
  #lookOut(): void {
    this.#transport?.watch?.()
    this.#pressed().lookOut(() => this.relieved())
  }
}
