import { randomUUID } from 'node:crypto'
import { isPromise, type Logger } from '../../kernel/index.ts'
import { Allowance } from './allowance.ts'
import { checkClose } from './close-code.ts'
import { errorFrame, type InvalidMessage, type ReadMessage } from './messages.ts'
import type { Closing, Opening, SocketRoute } from './socket-route.ts'
import type { ServerSocket } from './types.ts'
import type { Wire, WireEvents } from './wire/contract.ts'

/** With 'wait', how many times the limit of a slow reader may be waiting for it. */
const mostWaiting = 8

/** Bytes of messages that may wait for the handler, as a multiple of the longest message; and how many messages. */
const mostQueued = { messages: 1000, longest: 4 }

/** How often a slow reader is looked at. */
const lookMs = 50

type Handler = (socket: unknown, ...more: unknown[]) => unknown

/** One client, from the moment on that its request was accepted. */
export class Socket implements ServerSocket, WireEvents {
  data: unknown
  readonly params: object
  readonly ip: string
  readonly network: string
  readonly protocol: string
  /** When it is pinged next. */
  due = 0
  readonly #route: SocketRoute
  #id: string | undefined = undefined
  #wire: Wire | undefined = undefined
  #state: 'opening' | 'open' | 'closing' | 'closed' = 'opening'
  /** Whether the client was heard since the last ping. */
  #isAlive = true
  /** A handler is at work; what comes meanwhile waits. */
  #isBusy = false
  #queue: (string | Uint8Array)[] | undefined = undefined
  #queued = 0
  #isPaused = false
  /** With 'wait': more waits for the client than it may, so no message of its is handled. */
  #isSlow = false
  /** More messages wait for their handler than may. */
  #isFull = false
  /** Whether `open` was called, so that `close` is. */
  #wasOpen = false
  #bufferedAtPing = 0
  #look: ReturnType<typeof setInterval> | undefined = undefined
  /** Asked for before the connection was open. */
  #closeWith: Closing | undefined = undefined
  /** The connection has ended while a handler was at work. */
  #ended: Closing | undefined = undefined
  /** Made with the first message: an idle socket is to cost little. */
  #allowance: Allowance | undefined = undefined
  #waiting: (() => void)[] | undefined = undefined

  constructor(route: SocketRoute, { data, params, ip, network, protocol }: Opening) {
    this.#route = route
    this.data = data
    this.params = params
    this.ip = ip
    this.network = network
    this.protocol = protocol
  }

  get id(): string {
    this.#id ??= randomUUID()
    return this.#id
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get buffered(): number {
    return this.#wire?.buffered ?? 0
  }

  get log(): Logger {
    return this.#route.log.child({ socket: this.id })
  }

  // — what the application does —

  send(message: unknown): boolean {
    const frame = this.#route.write(message)
    return this.sendFrame(frame)
  }

  /** Sends what is written already. */
  sendFrame(frame: string | Uint8Array): boolean {
    const wire = this.#wire
    if (this.#state !== 'open' || wire === undefined) return false
    const { maxBuffered, slowReaders, sockets } = this.#route
    const { buffered } = wire
    if (buffered > maxBuffered) {
      if (slowReaders === 'drop') {
        sockets.counts.dropped++
        return false
      }
      if (slowReaders === 'close' || buffered > maxBuffered * mostWaiting) {
        sockets.counts.dropped++
        this.close(1013, 'the client does not read')
        return false
      }
      this.#isSlow = true
      this.#pause()
      this.#lookOut()
    }
    sockets.counts.sent++
    wire.send(frame)
    return true
  }

  drained(): Promise<void> {
    if (this.#state !== 'open' || this.buffered <= this.#route.maxBuffered) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting ??= []
      this.#waiting.push(resolve)
      this.#lookOut()
    })
  }

  close(code = 1000, reason = ''): void {
    checkClose(code, reason)
    if (this.#state === 'closing' || this.#state === 'closed') return
    const wire = this.#wire
    this.#state = 'closing'
    // Not open yet: closed as soon as it is.
    if (wire === undefined) this.#closeWith = { code, reason }
    else this.#closeWire(wire, code, reason)
  }

  #closeWire(wire: Wire, code: number, reason: string): void {
    // A reader that is paused would not see the answer of the client.
    if (this.#isPaused) wire.resume?.()
    wire.close(code, reason)
    const timer = setTimeout(() => this.#state === 'closing' && wire.terminate(), this.#route.sockets.closeTimeout)
    timer.unref()
  }

  terminate(): void {
    if (this.#wire === undefined) this.closed(1006, '')
    else this.#wire.terminate()
  }

  /** Ends a client that has not been heard since the last ping. */
  ping(): void {
    const wire = this.#wire
    if (wire?.ping === undefined || this.#state === 'closed') return
    // Nothing is read of it because handlers are slow: it may have answered.
    if (this.#isFull) return
    const { buffered } = wire
    // Nothing is read of a slow reader either, but it reads.
    if (this.#isSlow && buffered < this.#bufferedAtPing) this.#isAlive = true
    this.#bufferedAtPing = buffered
    if (!this.#isAlive) wire.terminate()
    else {
      this.#isAlive = false
      wire.ping()
    }
  }

  // — what the wire reports —

  opened(wire: Wire): void {
    if (this.#state === 'closed') {
      wire.terminate()
      return
    }
    this.#wire = wire
    this.#route.sockets.counts.opened++
    const { open } = this.#route.handlers as { readonly open?: Handler }
    if (this.#closeWith !== undefined) {
      this.#closeWire(wire, this.#closeWith.code, this.#closeWith.reason)
      return
    }
    this.#state = 'open'
    this.#wasOpen = true
    if (open !== undefined) this.#run(() => open(this))
  }

  received(message: string | Uint8Array): void {
    this.#isAlive = true
    if (this.#state !== 'open') return
    const { measures, maxMessageSize } = this.#route
    if (measures && Buffer.byteLength(message) > maxMessageSize) this.close(1009, 'the message is too long')
    else if (!this.#mayAsk()) this.close(1008, 'too many messages')
    else if (this.#isBusy || this.#isSlow) this.#enqueue(message)
    else this.#handle(message)
  }

  controlled(frame: 'ping' | 'pong'): void {
    this.#isAlive = true
    if (frame === 'ping' && this.#state === 'open' && !this.#mayAsk()) this.close(1008, 'too many pings')
  }

  relieved(): void {
    if (this.buffered > this.#route.maxBuffered) {
      if (this.#look !== undefined) this.#wire?.watch?.()
      return
    }
    clearInterval(this.#look)
    this.#look = undefined
    this.#wake()
    if (!this.#isSlow) return
    this.#isSlow = false
    if (!this.#isBusy) this.#handleQueue()
  }

  closed(code: number, reason: string): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    clearInterval(this.#look)
    this.#queue = undefined
    this.#wake()
    // After the handler that is at work: it may still write what this one takes away.
    if (this.#isBusy) this.#ended = { code, reason }
    else this.#runClose(code, reason)
  }

  /** The socket counts until its last handler has settled: the end of the server waits for it. */
  #runClose(code: number, reason: string): void {
    const { close } = this.#route.handlers as { readonly close?: Handler }
    if (this.#wasOpen && close !== undefined) this.#run(() => close(this, code, reason))
    if (!this.#isBusy) this.#route.sockets.delete(this)
  }

  // — messages, one after the other —

  #handle(message: string | Uint8Array): void {
    let read: ReadMessage | Promise<ReadMessage>
    try {
      read = this.#route.read(message)
    } catch (error) {
      this.#failed(error)
      return
    }
    if (read instanceof Promise) this.#run(() => read.then((settled) => this.#take(settled)))
    else if (read.ok) this.#run(() => this.#take(read))
    else this.#refuse(read.invalid)
  }

  #take(read: ReadMessage): unknown {
    if (!read.ok) return this.#refuse(read.invalid)
    this.#route.sockets.counts.received++
    const { message } = this.#route.handlers as { readonly message?: Handler }
    return message?.(this, read.message)
  }

  #refuse(invalid: InvalidMessage): void {
    this.#route.sockets.counts.invalid++
    this.sendFrame(errorFrame(invalid))
  }

  #enqueue(message: string | Uint8Array): void {
    this.#queue ??= []
    this.#queue.push(message)
    this.#queued += message.length
    const isFull =
      this.#queue.length > mostQueued.messages || this.#queued > this.#route.maxMessageSize * mostQueued.longest
    if (!isFull) return
    this.#isFull = true
    if (this.#wire?.pause === undefined) this.close(1008, 'too many messages wait for their handler')
    else this.#pause()
  }

  /** Runs a handler; what comes while its promise is pending waits. */
  #run(call: () => unknown): void {
    let result: unknown
    try {
      result = call()
    } catch (error) {
      this.#failed(error)
      return
    }
    // A query of a database is often no promise, but begins where it is waited for.
    if (!isPromise(result)) return
    this.#isBusy = true
    Promise.resolve(result).then(
      () => this.#goOn(),
      (error: unknown) => {
        this.#failed(error)
        this.#goOn()
      },
    )
  }

  #goOn(): void {
    this.#isBusy = false
    const ended = this.#ended
    if (ended !== undefined) {
      this.#ended = undefined
      this.#runClose(ended.code, ended.reason)
      return
    }
    if (this.#state === 'closed') this.#route.sockets.delete(this)
    this.#handleQueue()
  }

  #handleQueue(): void {
    while (!this.#isBusy && !this.#isSlow && this.#state === 'open') {
      const next = this.#queue?.shift()
      if (next === undefined) break
      this.#queued -= next.length
      this.#handle(next)
    }
    if ((this.#queue?.length ?? 0) < mostQueued.messages / 2) this.#isFull = false
    this.#resume()
  }

  #failed(error: unknown): void {
    const { handlers, log, path } = this.#route
    const { error: onError } = handlers as { readonly error?: Handler }
    if (onError === undefined) {
      log.error({ err: error, socket: this.id }, `a handler of the websocket ${path} failed`)
      if (this.#state === 'open') this.close(1011, 'the server has failed')
      return
    }
    try {
      const result = onError(this, error)
      if (isPromise(result)) Promise.resolve(result).catch((second: unknown) => this.#failedAgain(second))
    } catch (second) {
      this.#failedAgain(second)
    }
  }

  #failedAgain(error: unknown): void {
    const { log, path } = this.#route
    log.error({ err: error, socket: this.id }, `the error handler of the websocket ${path} failed`)
    if (this.#state === 'open') this.close(1011, 'the server has failed')
  }

  // — the limits —

  #mayAsk(): boolean {
    const { messagesPerSecond } = this.#route
    if (messagesPerSecond === false) return true
    this.#allowance ??= new Allowance(messagesPerSecond)
    return this.#allowance.take()
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#wire?.pause?.()
  }

  #resume(): void {
    if (!this.#isPaused || this.#isSlow || this.#isFull) return
    this.#isPaused = false
    // What it has said meanwhile is read only now.
    this.#isAlive = true
    this.#wire?.resume?.()
  }

  /** Not every runtime reports that a client has read, and none does for less than the buffer of its connection. */
  #lookOut(): void {
    this.#wire?.watch?.()
    this.#look ??= setInterval(() => this.relieved(), lookMs)
    this.#look.unref()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    for (const resolve of waiting ?? []) resolve()
  }
}
