/** What the part for websockets declares. */
export const socketRuntimeNames = [
  'AnyWebSocket',
  'Opening',
  'Reader',
  'Reconnect',
  'Socket',
  'SocketEnd',
  'SocketError',
  'SocketEvents',
  'SocketOptions',
  'WebSocketClass',
] as const

/** Globals that it uses: a component of that name would hide them. */
export const socketGlobals = [
  'ArrayBuffer',
  'AsyncIterable',
  'AsyncIterator',
  'IteratorResult',
  'ReturnType',
  'Set',
  'URL',
] as const

/** The part of a generated client that speaks with websockets; in those of servers that have any. */
export const socketRuntime = String.raw`/** A WebSocket of any runtime, or of a package. */
export interface AnyWebSocket {
  binaryType: string
  readonly protocol: string
  send(data: any): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: any) => void): void
}
export type WebSocketClass = new (url: string, protocols?: any, options?: any) => AnyWebSocket

export interface ClientOptions {
  /** In place of the global WebSocket, which Node.js has from version 22 on: that of the package ws, for one. */
  readonly WebSocket?: WebSocketClass | undefined
}

/** How a socket connects again. */
export interface Reconnect {
  /** Milliseconds to the first attempt, doubled for each further one; each wait is between half of that and the whole. Default 500. */
  readonly delay?: number | undefined
  /** The longest wait. Default 30000. */
  readonly maxDelay?: number | undefined
  /** Attempts in a row before the socket ends. Default: no limit. */
  readonly attempts?: number | undefined
}

/** What every socket takes beside its own input. */
export interface SocketOptions {
  /** Of the opening request. Browsers cannot send any: there it is an error, and those of the client are left out. */
  readonly headers?: HeaderValues | undefined
  /** The sub-protocols that the client offers, the preferred one first. Default: all that the server names. */
  readonly protocols?: readonly string[] | undefined
  /** Whether the socket connects again where the connection breaks off or the server goes away. Default false. */
  readonly reconnect?: boolean | Reconnect | undefined
  /** How many messages may wait for a connection; a further one is an error. Default 100. */
  readonly buffer?: number | undefined
  /** Closes the socket. */
  readonly signal?: AbortSignal | undefined
}

/** How a connection ended: a code of RFC 6455 section 7.4, 1005 where the server named none, 1006 where there was no connection or it broke off. */
export interface SocketEnd {
  readonly code: number
  readonly reason: string
}

export interface SocketEvents<Received> {
  readonly open: { readonly isAgain: boolean }
  readonly message: Received
  readonly close: SocketEnd & { readonly willReconnect: boolean }
}

/** A socket has ended other than by close() or with code 1000, or cannot send. */
export class SocketError extends Error {
  readonly code: number
  readonly reason: string
  constructor(what: string, end: SocketEnd) {
    super(what + (end.reason === '' ? '' : ': ' + end.reason))
    this.name = 'SocketError'
    this.code = end.code
    this.reason = end.reason
  }
}

interface Reader<Received> {
  give(message: Received): void
  end(error: SocketError | undefined): void
}

interface Opening extends SocketOptions {
  readonly query?: object
}

/** A websocket. Read it by for await, or by on('message'); messages that come before are kept, the last 1000. */
export class Socket<Received, Sent> implements AsyncIterable<Received> {
  /** Resolves when the connection is open for the first time; rejects where the socket ends before. */
  readonly opened: Promise<void>
  /** Resolves when the socket has ended and does not connect again. */
  readonly closed: Promise<SocketEnd>
  readonly #what: string
  readonly #isJson: boolean
  readonly #connect: () => Promise<AnyWebSocket>
  readonly #options: SocketOptions
  readonly #onError: ((error: unknown) => void) | undefined
  readonly #listeners: { readonly [Name in keyof SocketEvents<Received>]: Set<(event: SocketEvents<Received>[Name]) => void> } = {
    open: new Set(),
    message: new Set(),
    close: new Set(),
  }
  readonly #readers: Set<Reader<Received>> = new Set()
  readonly #stop = (): void => this.close()
  #settle: { open(): void; fail(error: unknown): void; end(end: SocketEnd): void }
  #unsent: (string | Uint8Array)[] = []
  #unread: Received[] | undefined = []
  #web: AnyWebSocket | undefined
  #isOpen = false
  #openings = 0
  #openedAt = 0
  #attempt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosing = false
  #end: SocketEnd | undefined
  #error: SocketError | undefined
  constructor(
    what: string,
    isJson: boolean,
    connect: () => Promise<AnyWebSocket>,
    options: SocketOptions,
    client: { readonly signal?: AbortSignal | undefined; readonly onError?: ((error: unknown) => void) | undefined } = {},
  ) {
    this.#what = what
    this.#isJson = isJson
    this.#connect = connect
    this.#options = options
    this.#onError = client.onError
    const settle = { open: (): void => {}, fail: (_error: unknown): void => {}, end: (_end: SocketEnd): void => {} }
    this.opened = new Promise((resolve, reject) => {
      settle.open = resolve
      settle.fail = reject
    })
    this.closed = new Promise((resolve) => {
      settle.end = resolve
    })
    this.#settle = settle
    // Whoever does not ask for it is told by the iteration or by on('close').
    this.opened.catch(() => {})
    for (const signal of [client.signal, options.signal]) signal?.addEventListener('abort', this.#stop)
    this.closed.then(() => {
      for (const signal of [client.signal, options.signal]) signal?.removeEventListener('abort', this.#stop)
    })
    if (client.signal?.aborted || options.signal?.aborted) this.close()
    else void this.#start()
  }
  /** Whether a message would be sent at once. */
  get isOpen(): boolean {
    return this.#isOpen
  }
  /** The sub-protocol that the server has chosen, '' for none and before. */
  get protocol(): string {
    return this.#web?.protocol ?? ''
  }
  /** Sends a message. While there is no connection it waits for one, and throws where too many do; after the end it throws. */
  send(message: Sent): void {
    const data = typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message)
    if (this.#end !== undefined || this.#isClosing) throw new SocketError(this.#what + ' has ended', this.#end ?? { code: 1000, reason: '' })
    if (this.#isOpen && this.#web !== undefined) return this.#web.send(data)
    const limit = this.#options.buffer ?? 100
    if (this.#unsent.length >= limit) {
      throw new SocketError(this.#what + ' is not connected, and ' + limit + ' messages wait already', { code: 1006, reason: '' })
    }
    this.#unsent.push(data)
  }
  /** Calls a function for each message, opening or end of a connection; what it returns ends that. */
  on<Name extends keyof SocketEvents<Received>>(name: Name, listener: (event: SocketEvents<Received>[Name]) => void): () => void {
    const listeners = this.#listeners[name] as Set<(event: SocketEvents<Received>[Name]) => void>
    listeners.add(listener)
    if (name === 'message') queueMicrotask(() => this.#flush())
    return () => void listeners.delete(listener)
  }
  /** Ends the socket, and connects no more. */
  close(code = 1000, reason = ''): void {
    if (this.#end !== undefined || this.#isClosing) return
    this.#isClosing = true
    clearTimeout(this.#timer)
    if (this.#web === undefined) this.#finish({ code, reason })
    else this.#web.close(code, reason)
  }
  /** The messages from now on. It ends with the socket; a SocketError says that it did not end as it should. */
  [Symbol.asyncIterator](): AsyncIterator<Received, undefined> {
    const ready: Received[] = []
    const asked: { resolve(result: IteratorResult<Received, undefined>): void; reject(error: unknown): void }[] = []
    let ended: { readonly error: SocketError | undefined } | undefined
    const done: IteratorResult<Received, undefined> = { done: true, value: undefined }
    const reader: Reader<Received> = {
      give: (value) => {
        const next = asked.shift()
        if (next === undefined) ready.push(value)
        else next.resolve({ done: false, value })
      },
      end: (error) => {
        ended = { error: asked.length > 0 ? undefined : error }
        for (const [at, next] of asked.splice(0).entries()) {
          if (at === 0 && error !== undefined) next.reject(error)
          else next.resolve(done)
        }
      },
    }
    this.#readers.add(reader)
    this.#flush()
    if (this.#end !== undefined) reader.end(this.#error)
    return {
      next: () => {
        if (ready.length > 0) return Promise.resolve({ done: false, value: ready.shift() as Received })
        if (ended === undefined) return new Promise((resolve, reject) => asked.push({ resolve, reject }))
        const { error } = ended
        ended = { error: undefined }
        return error === undefined ? Promise.resolve(done) : Promise.reject(error)
      },
      return: () => {
        this.#readers.delete(reader)
        ready.length = 0
        reader.end(undefined)
        return Promise.resolve(done)
      },
    }
  }
  async #start(): Promise<void> {
    let web: AnyWebSocket
    try {
      web = await this.#connect()
    } catch (error) {
      return this.#finish({ code: 1006, reason: error instanceof Error ? error.message : String(error) })
    }
    let isOver = false
    const over = (end: SocketEnd): void => {
      if (isOver) return
      isOver = true
      this.#lose(end)
    }
    web.binaryType = 'arraybuffer'
    web.addEventListener('open', () => this.#open())
    web.addEventListener('message', ({ data }) => this.#receive(data))
    // Not every runtime says of a connection that was never made that it is closed.
    web.addEventListener('error', () => {
      if (!this.#isOpen) over({ code: 1006, reason: '' })
    })
    web.addEventListener('close', ({ code, reason }) => over({ code, reason: String(reason ?? '') }))
    this.#web = web
    if (this.#isClosing) web.close()
  }
  #open(): void {
    if (this.#isClosing) return
    this.#isOpen = true
    this.#openedAt = Date.now()
    this.#settle.open()
    for (const data of this.#unsent.splice(0)) this.#web?.send(data)
    this.#emit('open', { isAgain: this.#openings++ > 0 })
  }
  #receive(data: unknown): void {
    let message: unknown = typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer)
    if (this.#isJson) {
      try {
        message = JSON.parse(data as string)
      } catch (error) {
        this.#onError?.(error)
        return
      }
    }
    if (this.#unread === undefined) return this.#deliver(message as Received)
    this.#unread.push(message as Received)
    if (this.#unread.length > 1000) this.#unread.shift()
  }
  #flush(): void {
    const unread = this.#unread ?? []
    this.#unread = undefined
    for (const message of unread) this.#deliver(message)
  }
  #deliver(message: Received): void {
    for (const reader of this.#readers) reader.give(message)
    this.#emit('message', message)
  }
  #emit<Name extends keyof SocketEvents<Received>>(name: Name, event: SocketEvents<Received>[Name]): void {
    for (const listener of this.#listeners[name] as Set<(event: SocketEvents<Received>[Name]) => void>) {
      try {
        listener(event)
      } catch (error) {
        // It is not for the other listeners to suffer from, and not to be lost.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
  #lose(end: SocketEnd): void {
    this.#web = undefined
    const { reconnect } = this.#options
    const { delay = 500, maxDelay = 30_000, attempts = Infinity } = typeof reconnect === 'object' ? reconnect : {}
    // A connection that has held for a while begins anew.
    if (this.#isOpen && Date.now() - this.#openedAt >= 5_000) this.#attempt = 0
    this.#isOpen = false
    const isWorthIt = [1001, 1005, 1006, 1011, 1012, 1013, 1014].includes(end.code)
    if (!reconnect || this.#isClosing || !isWorthIt || this.#attempt >= attempts) return this.#finish(end)
    this.#emit('close', { ...end, willReconnect: true })
    if (this.#isClosing) return
    const wait = Math.min(maxDelay, delay * 2 ** this.#attempt++)
    this.#timer = setTimeout(() => void this.#start(), wait * (0.5 + Math.random() / 2))
  }
  #finish(end: SocketEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#unsent = []
    const isGood = this.#isClosing || end.code === 1000
    const error = new SocketError(this.#what + ' has ended with ' + end.code, end)
    if (!isGood) {
      this.#error = error
      this.#onError?.(error)
    }
    this.#settle.fail(error)
    this.#settle.end(end)
    for (const reader of this.#readers) reader.end(this.#error)
    this.#emit('close', { ...end, willReconnect: false })
  }
}

function openSockets(client: ClientOptions) {
  return <Received, Sent>(path: string, isJson: boolean, options: Opening = {}, offered: readonly string[] = []): Socket<Received, Sent> => {
    const Given = client.WebSocket
    const Class = Given ?? ((globalThis as { WebSocket?: unknown }).WebSocket as WebSocketClass | undefined)
    if (Class === undefined) {
      throw new TypeError('this runtime has no WebSocket (Node.js has it from version 22 on): give that of the package ws to the client, as its option WebSocket')
    }
    const { process } = globalThis as { process?: { versions?: { node?: string } } }
    const sendsHeaders = process?.versions?.node !== undefined
    if (!sendsHeaders && Object.values(options.headers ?? {}).some((value) => value !== undefined && value !== null)) {
      throw new TypeError('a browser sends no headers of yours with a websocket: name the caller by a cookie, the query or a sub-protocol')
    }
    const url = socketUrl(client.baseUrl, path + search(options.query))
    const protocols = [...(options.protocols ?? offered)]
    const connect = async (): Promise<AnyWebSocket> => {
      const common = typeof client.headers === 'function' ? await client.headers() : client.headers
      const headers = new Headers()
      for (const [name, value] of [...Object.entries(common ?? {}), ...Object.entries(options.headers ?? {})]) {
        if (value !== undefined && value !== null) headers.set(name, String(value))
      }
      const named = Object.fromEntries(headers)
      if (!sendsHeaders || Object.keys(named).length === 0) return new Class(url, protocols)
      return Given === undefined ? new Class(url, { protocols, headers: named }) : new Class(url, protocols, { headers: named })
    }
    return new Socket(path, isJson, connect, options, client)
  }
}

function socketUrl(base: string | undefined, path: string): string {
  const { location } = globalThis as { location?: { href?: string } }
  const text = (base ?? '').replace(/\/+$/, '') + path
  if (!URL.canParse(text, location?.href)) throw new TypeError('the client has no baseUrl, which a websocket needs outside of browsers')
  const url = new URL(text, location?.href)
  url.protocol = url.protocol.replace(/^http/, 'ws')
  return url.href
}
`
