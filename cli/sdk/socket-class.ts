/** The socket of a generated client: how it sends, reads, ends and reconnects. ASCII only: it becomes part of a raw string, in which a bundler escapes anything else. */
export const socketClass = `/** A websocket. Read it by for await, or by on('message'); messages that come before are kept, the last 1000. */
export class Socket<Received, Sent> implements AsyncIterable<Received> {
  /** Resolves when the connection is open for the first time; rejects where the socket ends before. */
  readonly opened: Promise<void>
  /** Resolves when the socket has ended and does not connect again. */
  readonly closed: Promise<SocketEnd>
  readonly #what: string
  readonly #isJson: boolean
  readonly #connect: () => Promise<() => AnyWebSocket>
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
    connect: () => Promise<() => AnyWebSocket>,
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
    // Callers that do not use it receive the error through the iteration or on('close').
    this.opened.catch(() => {})
    for (const signal of [client.signal, options.signal]) signal?.addEventListener('abort', this.#stop)
    this.closed.then(() => {
      for (const signal of [client.signal, options.signal]) signal?.removeEventListener('abort', this.#stop)
    })
    if (client.signal?.aborted || options.signal?.aborted) this.close()
    else void this.#start()
  }
  /** Whether a message would be sent immediately. */
  get isOpen(): boolean {
    return this.#isOpen
  }
  /** The sub-protocol that the server has chosen, '' for none and before. */
  get protocol(): string {
    return this.#web?.protocol ?? ''
  }
  /** Sends a message. Without a connection the message waits for one, or this throws where too many wait; after the end it throws. */
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
  /** Calls a function for each message, opening or end of a connection; the returned function ends that. */
  on<Name extends keyof SocketEvents<Received>>(name: Name, listener: (event: SocketEvents<Received>[Name]) => void): () => void {
    const listeners = this.#listeners[name] as Set<(event: SocketEvents<Received>[Name]) => void>
    listeners.add(listener)
    if (name === 'message') queueMicrotask(() => this.#flush())
    return () => void listeners.delete(listener)
  }
  /** Ends the socket, without reconnecting. */
  close(code = 1000, reason = ''): void {
    if (this.#end !== undefined || this.#isClosing) return
    this.#isClosing = true
    clearTimeout(this.#timer)
    if (this.#web === undefined) return this.#finish({ code, reason })
    try {
      this.#web.close(code, reason)
    } catch (error) {
      // A code or a reason that the runtime refuses: the socket continues, and can still be closed.
      this.#isClosing = false
      throw error
    }
  }
  /** The messages from now on. It ends with the socket; a SocketError means an irregular end. */
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
    const failed = (error: unknown): SocketEnd => ({ code: 1006, reason: error instanceof Error ? error.message : String(error) })
    let make: () => AnyWebSocket
    try {
      make = await this.#connect()
    } catch (error) {
      // The headers may need a token that is not available at this moment.
      return this.#lose(failed(error))
    }
    if (this.#end !== undefined) return
    let web: AnyWebSocket
    try {
      web = make()
    } catch (error) {
      return this.#finish(failed(error))
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
    // Not every runtime reports the close of a connection that was never made.
    web.addEventListener('error', () => {
      if (!this.#isOpen) over({ code: 1006, reason: '' })
    })
    // Deno reports 0 instead of 1006 when the connection breaks off.
    web.addEventListener('close', ({ code, reason }) => over({ code: code || 1006, reason: String(reason ?? '') }))
    this.#web = web
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
        return this.#report(error)
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
      this.#run(() => listener(event))
    }
  }
  #report(error: unknown): void {
    this.#run(() => this.#onError?.(error))
  }
  #run(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      // It must neither affect the socket and other listeners, nor be lost.
      queueMicrotask(() => {
        throw error
      })
    }
  }
  #lose(end: SocketEnd): void {
    this.#web = undefined
    const { reconnect } = this.#options
    const { delay = 500, maxDelay = 30_000, attempts = Infinity } = typeof reconnect === 'object' ? reconnect : {}
    // A connection that has lasted for a while resets the delay.
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
      this.#report(error)
    }
    this.#settle.fail(error)
    this.#settle.end(end)
    for (const reader of this.#readers) reader.end(this.#error)
    this.#emit('close', { ...end, willReconnect: false })
  }
}`
