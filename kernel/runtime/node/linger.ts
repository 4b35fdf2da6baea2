import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { isBun } from '../../support/runtime-name.ts'

/** How long a connection may live after its last response: long enough for the client to read that response. */
const lingerMs = 500

const lingering = new WeakSet<Duplex>()

/**
 * Ends a connection slowly after its last response.
 *
 * Closing a socket with unread bytes sends a reset, which can overtake the response; so the response is sent, the server's
 * half is closed, and only after a moment is the socket destroyed.
 */
export function lingerAfter(socket: Duplex & { destroySoon?: () => void }): void {
  if (lingering.has(socket)) return
  lingering.add(socket)
  socket.destroySoon = () => {
    socket.end()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
}

/** Whether a connection will end by itself within that time after its last response. */
export function isLingering(socket: Duplex): boolean {
  return lingering.has(socket)
}

/**
 * Ends the connection after the response, without reading the rest of the body.
 *
 * Bun ends such a connection immediately, and with it the response to every third client that is still sending. So the response does not
 * announce the end there, and for that moment the rest is read; later bytes are lost.
 */
export function closeUnread(message: IncomingMessage, response: ServerResponse): void {
  if (!isBun) {
    // With a 'readable' listener, Node does not dump (that is, read) the rest of the body after the response.
    if (!message.readableEnded) message.on('readable', () => {})
    lingerAfter(message.socket)
    return
  }
  const linger = () => {
    setTimeout(() => {
      if (!message.complete) message.socket.destroy()
    }, lingerMs).unref()
  }
  message.resume()
  if (response.writableFinished) linger()
  else response.once('finish', linger)
}
