import { socketClass } from './socket-class.ts'

/** The names that the part for websockets declares. */
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

/** Globals that it uses: a component with such a name would hide them. */
export const socketGlobals = [
  'ArrayBuffer',
  'AsyncIterable',
  'AsyncIterator',
  'IteratorResult',
  'ReturnType',
  'Set',
  'URL',
] as const

/** The part of a generated client for websockets, in clients of servers that have any. */
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
  /** In place of the global WebSocket, which Node.js has from version 22 on: for example that of the package ws. */
  readonly WebSocket?: WebSocketClass | undefined
}

/** Options of reconnecting. */
export interface Reconnect {
  /** Milliseconds to the first attempt, doubled for each further one; each wait is between half of that and the whole. Default 500. */
  readonly delay?: number | undefined
  /** The longest wait. Default 30000. */
  readonly maxDelay?: number | undefined
  /** Attempts in a row before the socket ends. Default: no limit. */
  readonly attempts?: number | undefined
}

/** Options of every socket, in addition to its own input. */
export interface SocketOptions {
  /** Headers of the opening request. Browsers cannot send any: there, setting them is an error, and the headers of the client are left out. */
  readonly headers?: HeaderValues | undefined
  /** The sub-protocols that the client offers, the preferred one first. Default: all that the server names. */
  readonly protocols?: readonly string[] | undefined
  /** Whether the socket reconnects when the connection breaks off or the server goes away. Default false. */
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

${socketClass}
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
    const connect = async (): Promise<() => AnyWebSocket> => {
      const common = typeof client.headers === 'function' ? await client.headers() : client.headers
      const headers = new Headers()
      for (const [name, value] of [...Object.entries(common ?? {}), ...Object.entries(options.headers ?? {})]) {
        if (value !== undefined && value !== null) headers.set(name, String(value))
      }
      const named: Record<string, string> = {}
      headers.forEach((value, name) => {
        named[name] = value
      })
      if (!sendsHeaders || Object.keys(named).length === 0) return () => new Class(url, protocols)
      return () => (Given === undefined ? new Class(url, { protocols, headers: named }) : new Class(url, protocols, { headers: named }))
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
