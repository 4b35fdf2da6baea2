import {
  clock,
  defineErrors,
  type Request,
  ServerClosingError,
  systemClock,
  type Timer,
  within,
} from '../../kernel/index.ts'
import { networkOf } from '../shared/http/network.ts'
import { madeIn, sharing } from '../shared/values/memoize.ts'
import { deferred } from '../shared/values/promises.ts'
import { checkOrigin } from './handshake.ts'
import { readerOf } from './messages.ts'
import type { WebsocketSettings } from './options.ts'
import type { Socket } from './socket.ts'
import type { AllSockets, SocketCounts, SocketRoute } from './socket-route.ts'
import type { Message } from './types.ts'

const { TooManySocketsError, TooManySocketsOfAddressError } = defineErrors({
  TooManySocketsError: [503, (most: number) => `the server has ${most} websockets and event streams, the maximum`],
  TooManySocketsOfAddressError: [
    429,
    (most: number) => `the address of the client has ${most} websockets and event streams, the maximum`,
  ],
})

/** What another plugin adds to the websockets of a route: messages of its own. */
export interface SocketExtension {
  readonly types: readonly string[]
  /** Handles a message; later messages wait until its result has settled. */
  received(socket: Socket, message: Message): unknown
}

type SocketsSettings = Pick<WebsocketSettings, 'pingInterval' | 'closeTimeout' | 'maxSockets' | 'maxSocketsPerAddress'>

/**
 * All open sockets of one plugin: counts them, finds those whose client is gone, and ends them when the server closes.
 */
export class Sockets implements AllSockets {
  /** The counters since the start. */
  readonly counts: SocketCounts = { open: 0, opened: 0, received: 0, invalid: 0, sent: 0, dropped: 0 }
  /** All sockets in the order of their next ping: the first is due first. */
  readonly #all = new Set<Socket>()
  /** The number of sockets by network; counted only if there is a limit. */
  readonly #ofNetwork = new Map<string, number>()
  /** The number of event streams, which other plugins open on the routes of websockets, and of connections that outlast their sockets. */
  #others = 0
  readonly #settings: SocketsSettings
  readonly #whenOver = new Map<Socket, (() => void)[]>()
  readonly #routes = new WeakMap<object, SocketRoute>()
  readonly #pingInterval: number
  #timer: Timer | undefined
  #onEmpty: (() => void) | undefined

  constructor(settings: SocketsSettings) {
    this.#settings = settings
    this.#pingInterval = settings.pingInterval === false ? 0 : settings.pingInterval
  }

  /** How many sockets are open. */
  get size(): number {
    return this.#all.size
  }

  /** @internal The error for one more client of an address, if there is no room for it. */
  refusalOf(ip: string): Error | undefined {
    const { maxSockets, maxSocketsPerAddress } = this.#settings
    if (this.#all.size + this.#others >= maxSockets) return TooManySocketsError(maxSockets)
    if (maxSocketsPerAddress === false || (this.#ofNetwork.get(networkOf(ip)) ?? 0) < maxSocketsPerAddress)
      return undefined
    return TooManySocketsOfAddressError(maxSocketsPerAddress)
  }

  /** @internal @throws ServerClosingError, TooManySocketsError, TooManySocketsOfAddressError */
  checkRoom({ server, ip }: Request): void {
    const refusal = server.closing.aborted ? ServerClosingError() : this.refusalOf(ip)
    if (refusal !== undefined) throw refusal
  }

  /** @internal Counts an event stream like a socket, until the returned function is called. @throws as `checkRoom` */
  addStream(req: Request): () => void {
    this.checkRoom(req)
    return this.hold(req.ip)
  }

  /** @internal Takes a place that no socket has, until the returned function is called. */
  hold(ip: string): () => void {
    const count = (more: 1 | -1) => {
      this.#others += more
      this.#count(ip, more)
    }
    count(1)
    return () => count(-1)
  }

  #count(ip: string, more: 1 | -1): void {
    if (this.#settings.maxSocketsPerAddress === false) return
    const network = networkOf(ip)
    const count = (this.#ofNetwork.get(network) ?? 0) + more
    if (count === 0) this.#ofNetwork.delete(network)
    else this.#ofNetwork.set(network, count)
  }

  /** Whether a socket is open here. */
  has(socket: object): boolean {
    return this.#all.has(socket as Socket)
  }

  /** The sockets that are open now: an iteration that awaits something ends although others open and are pinged meanwhile. */
  [Symbol.iterator](): IterableIterator<Socket> {
    return [...this.#all].values()
  }

  /** @internal Kept here because few sockets are in channels, and a field in each would cost memory. */
  whenOver(socket: Socket, callback: () => void): void {
    madeIn(this.#whenOver, socket, (): (() => void)[] => []).push(callback)
  }

  /** @internal */
  over(socket: Socket): void {
    const callbacks = this.#whenOver.get(socket) ?? []
    this.#whenOver.delete(socket)
    for (const callback of callbacks) callback()
  }

  /** @internal */
  know(route: object, shared: SocketRoute): void {
    this.#routes.set(route, shared)
  }

  /** @internal Adds the messages of another plugin to a route; call it in an `onRoute` hook that runs after this plugin's. */
  extend(route: object, extension: SocketExtension): void {
    const shared = this.#routes.get(route)!
    const { message } = shared.handlers as { readonly message?: unknown }
    shared.extension = extension
    shared.read = readerOf(shared.incoming, { types: extension.types, hasHandler: message !== undefined })
  }

  /** @internal Refuses a page of another origin, as opening this websocket would. */
  checkOrigin(route: object, req: Request): void {
    checkOrigin(req, this.#routes.get(route)!.origins)
  }

  /** Adds a socket when its request is accepted. */
  add(socket: Socket): void {
    this.#all.add(socket)
    this.counts.open++
    this.#count(socket.ip, 1)
    socket.due = clock.monotonic() + this.#pingInterval
    if (this.#timer !== undefined || this.#pingInterval === 0) return
    // In small portions: pings to all sockets at once would delay requests.
    this.#timer = clock.setInterval(() => this.#ping(), Math.min(1000, this.#pingInterval / 4))
    this.#timer.unref()
  }

  /** Forgets a socket that has ended. */
  delete(socket: Socket): void {
    if (!this.#all.delete(socket)) return
    this.counts.open--
    this.#count(socket.ip, -1)
    if (this.#all.size > 0) return
    clock.clear(this.#timer)
    this.#timer = undefined
    this.#onEmpty?.()
  }

  #ping(): void {
    const now = clock.monotonic()
    for (const socket of this.#all) {
      if (socket.due > now) return
      socket.due = now + this.#pingInterval
      this.#all.delete(socket)
      this.#all.add(socket)
      socket.ping()
    }
  }

  /** Closes all sockets with 1001, terminates those whose clients do not respond in time, and waits for their handlers. */
  readonly closeAll = sharing(async (): Promise<void> => {
    for (const socket of this.#all) socket.goAway(1001, 'the server is shutting down')
    if (this.#all.size === 0) return
    const { promise: empty, resolve } = deferred()
    this.#onEmpty = resolve
    const terminate = () => {
      for (const socket of this) socket.terminate()
    }
    await within(empty, this.#settings.closeTimeout, terminate, systemClock)
    await empty
  })
}
