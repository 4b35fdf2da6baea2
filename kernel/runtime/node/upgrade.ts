import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Connection } from '../../http/raw.ts'
import { isBun } from '../../support/runtime-name.ts'
import { type RequestHandler, type Upgrade, upgradeOf } from '../adapter.ts'
import { leaveIdle } from './idle.ts'
import { whenAnswered } from './pipelining.ts'
import { type AskedUpgrade, type NodeContext, NodeRequest } from './request.ts'

/** Whether a request declares a body, even an empty one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** The protocol for which to take over a connection. A body would then stay unread, so a request with one is an ordinary request. */
function wantsUpgrade(message: IncomingMessage, upgrades: readonly Upgrade[]): string | undefined {
  const { headers, method, httpVersion } = message
  if (method !== 'GET' || hasBody(message) || httpVersion !== '1.1') return undefined
  return upgradeOf(upgrades, headers.upgrade, headers.connection)
}

/**
 * Whether requests for another protocol leave the parser. If they do not, `node:http` treats them as ordinary ones, but drops
 * the requests after them. Bun does not, and cannot take a request back.
 */
export const takesAny = (upgrades: readonly Upgrade[]) => !isBun || upgrades.length > 0

/**
 * Sends requests for another protocol through the ordinary pipeline, which ends in a connection that is taken over or in an ordinary
 * answer. By then, `node:http` has released the connection: it parses no more bytes, and receives no errors.
 */
export function takeUpgrades(
  server: Server,
  upgrades: readonly Upgrade[],
  context: NodeContext,
  handler: RequestHandler,
): void {
  if (!takesAny(upgrades)) return
  // A response of the direct writer would keep the connection.
  const shared: NodeContext = { ...context, direct: undefined }
  server.on('upgrade', (message: IncomingMessage, stream: Duplex, head: Buffer) => {
    // A client may ask with each of its requests, so there is one listener per connection and not per request.
    if (!stream.listeners('error').includes(destroyThis)) stream.on('error', destroyThis)
    const protocol = wantsUpgrade(message, upgrades)
    whenAnswered(message.socket, () => {
      if (protocol === undefined) giveBack(server, message, stream, head)
      else begin(shared, handler, protocol, { runtime: 'node', message, socket: stream, head })
    })
  })
}

// Not a closure: it stays for the life of the connection, and would keep the request that opened it. With the listeners of the websocket plugin,
// which are not closures either, an idle socket takes up 12.4 kB instead of 15.7.
function destroyThis(this: Duplex): void {
  this.destroy()
}

type NodeConnection = Extract<Connection, { readonly runtime: 'node' }>

function begin(context: NodeContext, handler: RequestHandler, protocol: string, connection: NodeConnection): void {
  const { message } = connection
  const { socket } = message
  // `node:http` measures the silence since the previous response, and would end the connection while a guard is still waiting.
  socket.setTimeout(0)
  const response = new ServerResponse(message)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  const onClose = () => {
    response.destroyed = true
    response.emit('close')
  }
  socket.once('close', onClose)
  // `node:http` has removed its listener together with all others: a response in pieces would wait for ever.
  const onDrain = () => response.emit('drain')
  socket.on('drain', onDrain)
  response.once('finish', () => socket.destroySoon())
  const handOver: AskedUpgrade['handOver'] = (takeOver, headers) => {
    socket.off('close', onClose)
    socket.off('drain', onDrain)
    response.detachSocket(socket)
    leaveIdle(socket)
    takeOver(connection, headers)
    // The request has ended.
    response.emit('close')
  }
  context.activity.count++
  context.activity.working++
  handler(new NodeRequest(message, response, context, { protocol, handOver }))
}

/**
 * Gives a request for an unknown protocol back to `node:http` as an ordinary one on the same connection: it is written again
 * without `Upgrade`, followed by the bytes after it. Since Node.js 24.9, the option `shouldUpgradeCallback` would let such a request
 * through, and drop the requests after it.
 */
function giveBack(server: Server, message: IncomingMessage, stream: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = message
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.toLowerCase() !== 'upgrade') text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  stream.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]))
  // A TLS server assumes that a 'connection' is not encrypted yet.
  server.emit('encrypted' in stream ? 'secureConnection' : 'connection', stream)
}
