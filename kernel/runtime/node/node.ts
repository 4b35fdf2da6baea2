import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { detectRuntime, isBun } from '../../support/runtime-name.ts'
import type { Adapter, Address, ListenOptions, RequestHandler } from '../adapter.ts'
import { type Activity, busiestMoment, silence } from '../drain-moments.ts'
import { ListenError, listenError } from '../listen-errors.ts'
import { makeWay, type OpenSocket } from './direct.ts'
import { announce, endIdle } from './idle.ts'
import { isLingering } from './linger.ts'
import { CollectingMessage } from './message.ts'
import { type Pipeline, pipelineOf, whenAnswered } from './pipelining.ts'
import { findCollecting, findDirectWriter, keepShapes, showsOwners } from './probe.ts'
import { refuseConnect, refuseConnection } from './refuse.ts'
import { type Expectation, type NodeContext, NodeRequest } from './request.ts'
import { hasBody, takesAny, takeUpgrades } from './upgrade.ts'

/** How often a stopping server looks for connections that have become idle. */
const sweepMs = 50

export interface NodeAdapterOptions {
  /** Leaves the writing of responses and the time limit of idle connections to `node:http` alone, at a higher cost. */
  ordinary?: boolean
}

/** The adapter on `node:http`: the default on Node, and the hardened choice on Deno, whose own server has no time limits. */
export class NodeAdapter implements Adapter {
  readonly name = 'node'
  readonly #sockets = new Set<Socket>()
  /** The encrypted ends of the same connections: only they show whether anything was sent after the handshake. */
  readonly #secured = new Set<Socket>()
  readonly #activity: Activity = { count: 0, working: 0 }
  readonly #ordinary: boolean
  #stopSweeping: (() => void) | undefined
  #server: Server | undefined

  constructor({ ordinary = false }: NodeAdapterOptions = {}) {
    this.#ordinary = ordinary
  }

  async listen(options: ListenOptions, handler: RequestHandler): Promise<Address> {
    const { host, limits, https, onWarning } = options
    keepShapes()
    // On Node.js, the supervisor has the port, and `node:cluster` distributes its connections to the processes.
    const share = detectRuntime() === 'node' ? undefined : options.share
    const port = share === undefined ? options.port : await sharedPort(share, options)
    const ordinary = this.#ordinary
    const [direct, collects] = ordinary ? [] : await Promise.all([findDirectWriter(), findCollecting()])
    const announced = ordinary || !showsOwners() ? 0 : limits.keepAliveTimeout
    const context: NodeContext = { limits, activity: this.#activity, direct, announced, onWarning }
    const settings: OwnSettings = {
      keepAliveTimeout: announced > 0 ? 0 : limits.keepAliveTimeout,
      ...(collects && { IncomingMessage: CollectingMessage }),
      optimizeEmptyRequests: !ordinary,
    }
    const server = await create(options, settings, requestListener(context, handler, 'nothing'))
    this.#server = server
    // 0 means no limit, since Node would silently cut a longer list; `refusal()` checks the count, the parser the size.
    server.maxHeadersCount = 0
    server.on('checkContinue', requestListener(context, handler, 'continue'))
    server.on('checkExpectation', requestListener(context, handler, 'unknown'))
    server.on('connection', (socket: Socket) => track(this.#sockets, socket))
    server.on('secureConnection', (socket: Socket) => track(this.#secured, socket))
    server.on('clientError', (error: Error & { code?: string; reason?: string }, socket) => {
      // A client that leaves in the middle of a request is normal. Any other error is logged in one line: where in the parser it
      // happened helps no one, and strangers decide how often the line is written.
      if (error.code?.startsWith('HPE_') && error.code !== 'HPE_INVALID_EOF_STATE')
        onWarning(`a malformed request was refused: ${error.reason ?? error.message} (${error.code})`)
      refuseConnection(error, socket, options)
    })
    takeUpgrades(server, options.upgrades, context, handler)
    server.on('connect', ({ url, socket }: IncomingMessage, stream) => {
      // There is no other listener any more: an error would end the process.
      for (const one of [socket, stream]) one.on('error', () => one.destroy())
      whenAnswered(socket, () => refuseConnect(url, stream, options))
    })
    await bind(server, { host, port, ...(share !== undefined && { reusePort: true }) })
    if (announced > 0) this.#stopSweeping = endIdle(https ? this.#secured : this.#sockets, announced)
    server.on('error', (error) => onWarning('the server reported an error', error))
    const bound = server.address()
    return { host, port: typeof bound === 'object' && bound !== null ? bound.port : port }
  }

  connections(): number {
    return this.#sockets.size
  }

  cut(): number {
    const open = this.#sockets.size
    for (const socket of this.#sockets) socket.destroy()
    this.#server?.closeAllConnections()
    return open
  }

  async stop(): Promise<void> {
    const server = this.#server
    if (!server?.listening) return
    // Bun's `close` ends idle connections immediately.
    if (isBun) await busiestMoment(this.#activity)
    const closed = new Promise<void>((resolve) => closeListener(server, resolve))
    // Idle connections first have time for one more request: `http.Server.close` ends them immediately, and a client
    // whose next request is already on its way is reset (measured: up to 12 of 40).
    await Promise.race([closed, silence(this.#activity, () => this.#sockets.size === 0)])
    let known = this.#endIdle(server)
    // Immediates run after what has arrived was read, also when the process had no processor for a while.
    const sweep = setInterval(() => setImmediate(() => (known = this.#endIdle(server, known))), sweepMs)
    await closed
    clearInterval(sweep)
    this.#stopSweeping?.()
    // The sockets emit 'close' a little later than the server.
    this.#sockets.clear()
    // Frees the timer that checks the limits.
    server.close(() => {})
  }

  /** `known`: the connections of the last time. A newer one may have sent what is not read yet. Returns those of this time. */
  #endIdle(server: Server, known?: ReadonlySet<Socket>): ReadonlySet<Socket> {
    // `closeIdleConnections` would also end connections whose last response is still being sent or read.
    const all = [...this.#sockets, ...this.#secured] as OpenSocket[]
    const isSending = (socket: OpenSocket) =>
      socket._httpMessage?.writableEnded || socket.writableLength > 0 || isLingering(socket)
    if (!all.some(isSending)) server.closeIdleConnections()
    // Node counts a connection without a single byte as busy and would wait for it for ever. Bun shows a connection
    // only with its first request, and does not count bytes.
    if (!isBun) for (const socket of all) if (socket.bytesRead === 0 && known?.has(socket)) socket.destroy()
    return new Set(all)
  }
}

function track(sockets: Set<Socket>, socket: Socket): void {
  // A socket that was given back after a refused upgrade arrives here again.
  if (sockets.has(socket)) return
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

/** Settings that depend on what this version of Node.js can do. */
interface OwnSettings {
  readonly keepAliveTimeout: number
  readonly IncomingMessage?: typeof CollectingMessage
  /** From Node.js 24 on, a request that declares no body is a stream that ends before it begins, and has no events. */
  readonly optimizeEmptyRequests: boolean
}

async function create(
  options: ListenOptions,
  own: OwnSettings,
  listener: (message: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const { limits, https, upgrades } = options
  const settings: ServerOptions & { shouldUpgradeCallback: (message: IncomingMessage) => boolean } = {
    ...own,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.receiveTimeout,
    maxHeaderSize: limits.maxHeaderSize,
    // The default of 30 s would make every limit above ineffective.
    connectionsCheckingInterval: 1000,
    // The kernel refuses a missing Host, with the same body as for other refusals.
    requireHostHeader: false,
    // Called since Node.js 24.9. Later versions read the body of such a request, and `takeUpgrades` could not give it back.
    shouldUpgradeCallback: (message) => takesAny(upgrades) && !hasBody(message),
  }
  if (!https) return createServer(settings, listener)
  const { key, cert, ca, passphrase } = https
  // Otherwise a handshake may take two minutes, in which no other limit applies.
  const secure = {
    key: pem(key),
    cert: pem(cert),
    ca: ca && pem(ca),
    passphrase,
    handshakeTimeout: limits.headersTimeout,
  }
  // Loaded only where it is used: it takes 3 to 10 ms of a start.
  const { createServer: createSecureServer } = await import('node:https')
  return createSecureServer({ ...settings, ...secure }, listener)
}

/** Stops accepting, and nothing else. */
function closeListener(server: Server, onClosed: () => void): void {
  if (server instanceof NetServer && !isBun) NetServer.prototype.close.call(server, onClosed)
  else server.close(onClosed)
}

function pem(material: string | Uint8Array): string | Buffer {
  return typeof material === 'string' ? material : Buffer.from(material)
}

function requestListener(context: NodeContext, handler: RequestHandler, expects: Expectation) {
  const { activity, announced } = context
  const begin = (message: IncomingMessage, response: ServerResponse, pipeline: Pipeline | undefined) => {
    activity.count++
    activity.working++
    handler(new NodeRequest(message, response, context, expects, pipeline))
  }
  return (message: IncomingMessage, response: ServerResponse) => {
    if (announced > 0) announce(response, announced)
    const { socket } = message
    // The socket belongs to the previous request, if its response has not been written yet.
    if (response.socket === null && !makeWay(socket, response)) {
      const pipeline = pipelineOf(socket)
      pipeline.take({ response, begin: () => begin(message, response, pipeline) })
    }
    // Otherwise the connection is ending, as announced to the client: requests that it sends nevertheless do not begin.
    else if (socket.writable) begin(message, response, undefined)
  }
}

/** The port that is shared with the other workers. */
async function sharedPort(share: NonNullable<ListenOptions['share']>, { host, port }: ListenOptions): Promise<number> {
  if (isBun) {
    throw ListenError(host, port, 'node:http on Bun cannot share a port with other workers. Leave out adapter: "node"')
  }
  return share(host, port).catch((error: unknown) => {
    throw listenError(error, host, port)
  })
}

async function bind(server: Server, address: { host: string; port: number; reusePort?: boolean }): Promise<void> {
  server.listen(address)
  await once(server, 'listening').catch((error: unknown) => {
    throw listenError(error, address.host, address.port)
  })
}
