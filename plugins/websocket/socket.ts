import { randomUUID } from 'node:crypto'
import { ArgumentsError, type Logger } from '../../kernel/index.ts'
import { Allowance } from './allowance.ts'
import type { InvalidMessage, Read, ReadMessage, Write } from './messages.ts'
import type { SlowReaders } from './options.ts'
import type { Sockets } from './sockets.ts'
import type { AnyHandlers, ServerSocket } from './types.ts'
import type { Wire, WireEvents } from './wire/contract.ts'

/** What all sockets of one route share. */
export interface SocketRoute {
  readonly handlers: AnyHandlers
  readonly read: Read
  readonly write: Write
  readonly maxMessageSize: number
  /** Whether the runtime lets longer messages through: one limit holds for all routes of its server. */
  readonly measures: boolean
  readonly messagesPerSecond: number | false
  readonly maxBuffered: number
  readonly slowReaders: SlowReaders
  readonly sockets: Sockets
  readonly log: Logger
}

/** What a socket keeps of its request. */
export interface Opening {
  readonly data: unknown
  readonly params: object
  readonly ip: string
  readonly network: string
  readonly protocol: string
}

/** With 'wait', how many times the limit of a slow reader may be waiting for it. */
const mostWaiting = 8

/** Bytes of messages that may wait for the handler, as a multiple of the longest message; and how many messages. */
const mostQueued = { messages: 1000, longest: 4 }

interface Closing {
  readonly code: number
  readonly reason: string
}

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
      this.#pause()
      wire.watch?.()
    }
    sockets.counts.sent++
    wire.send(frame)
    return true
  }

  drained(): Promise<void> {
    if (this.#state !== 'open' || this.buffered <= this.#route.maxBuffered) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wire?.watch?.()
      this.#waiting ??= []
      this.#waiting.push(resolve)
    })
  }

  close(code = 1000, reason = ''): void {
    const isCode =
      code === 1000 ||
      (code >= 1001 && code <= 1014 && ![1004, 1005, 1006].includes(code)) ||
      (code >= 3000 && code <= 4999)
    if (!Number.isInteger(code) || !isCode)
      throw ArgumentsError(
        'socket.close',
        'a code of RFC 6455 section 7.4: 1000 to 1014 without 1004 to 1006, or 3000 to 4999',
      )
    if (Buffer.byteLength(reason) > 123) throw ArgumentsError('socket.close', 'a reason of at most 123 bytes')
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
    this.#wire?.terminate()
  }

  /** Ends a client that has not been heard since the last ping. */
  ping(): void {
    const wire = this.#wire
    if (wire?.ping === undefined || this.#state === 'closed') return
    if (!this.#isAlive) wire.terminate()
    else {
      this.#isAlive = false
      wire.ping()
    }
  }

  // — what the wire reports —

  opened(wire: Wire): void {
    this.#wire = wire
    this.#route.sockets.counts.opened++
    const { open } = this.#route.handlers as { readonly open?: Handler }
    if (this.#closeWith !== undefined) {
      this.#closeWire(wire, this.#closeWith.code, this.#closeWith.reason)
      return
    }
    this.#state = 'open'
    if (open !== undefined) this.#run(() => open(this))
  }

  received(message: string | Uint8Array): void {
    this.#isAlive = true
    if (this.#state !== 'open') return
    const { measures, maxMessageSize } = this.#route
    if (measures && sizeOf(message) > maxMessageSize) this.close(1009, 'the message is too long')
    else if (!this.#mayAsk()) this.close(1008, 'too many messages')
    else if (this.#isBusy) this.#enqueue(message)
    else this.#handle(message)
  }

  controlled(frame: 'ping' | 'pong'): void {
    this.#isAlive = true
    if (frame === 'ping' && this.#state === 'open' && !this.#mayAsk()) this.close(1008, 'too many pings')
  }

  relieved(): void {
    if (this.buffered > this.#route.maxBuffered) {
      this.#wire?.watch?.()
      return
    }
    this.#wake()
    this.#resume()
  }

  closed(code: number, reason: string): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#queue = undefined
    this.#wake()
    // After the handler that is at work: it may still write what this one takes away.
    if (this.#isBusy) this.#ended = { code, reason }
    else this.#runClose(code, reason)
  }

  /** The socket counts until its last handler has settled: the end of the server waits for it. */
  #runClose(code: number, reason: string): void {
    const { close } = this.#route.handlers as { readonly close?: Handler }
    if (this.#wire !== undefined && close !== undefined) this.#run(() => close(this, code, reason))
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

  #refuse({ message, errors }: InvalidMessage): void {
    this.#route.sockets.counts.invalid++
    this.sendFrame(JSON.stringify({ type: 'error', data: { code: 'InvalidMessageError', message, errors } }))
  }

  #enqueue(message: string | Uint8Array): void {
    this.#queue ??= []
    this.#queue.push(message)
    this.#queued += message.length
    const isFull =
      this.#queue.length > mostQueued.messages || this.#queued > this.#route.maxMessageSize * mostQueued.longest
    if (!isFull) return
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
    if (!(result instanceof Promise)) return
    this.#isBusy = true
    result.then(
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
    while (!this.#isBusy && this.#state === 'open') {
      const next = this.#queue?.shift()
      if (next === undefined) break
      this.#queued -= next.length
      this.#handle(next)
    }
    if ((this.#queue?.length ?? 0) < mostQueued.messages / 2) this.#resume()
  }

  #failed(error: unknown): void {
    const { handlers, log } = this.#route
    const { error: onError } = handlers as { readonly error?: Handler }
    if (onError === undefined) {
      log.error({ err: error, socket: this.id }, 'a handler of a websocket failed')
      if (this.#state === 'open') this.close(1011, 'the server has failed')
      return
    }
    try {
      const result = onError(this, error)
      if (result instanceof Promise) result.catch((second: unknown) => this.#failedAgain(second))
    } catch (second) {
      this.#failedAgain(second)
    }
  }

  #failedAgain(error: unknown): void {
    this.#route.log.error({ err: error, socket: this.id }, 'the error handler of a websocket failed')
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
    if (!this.#isPaused || this.buffered > this.#route.maxBuffered) return
    this.#isPaused = false
    this.#wire?.resume?.()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    for (const resolve of waiting ?? []) resolve()
  }
}

function sizeOf(message: string | Uint8Array): number {
  return typeof message === 'string' ? Buffer.byteLength(message) : message.byteLength
}
