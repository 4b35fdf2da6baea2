import type { LinkedPeer } from '../../shared/http/linked-socket.ts'
import type { OpenTransport, Transport } from './contract.ts'

/** Links the two ends within the process. Each frame arrives in a turn of its own, as over a network. */
export const openLinked: OpenTransport = (connection, _headers, { protocol, maxMessageSize }, events) => {
  if (connection.runtime !== 'inject') return undefined
  const peer = connection.peer as LinkedPeer
  let isOpen = true
  const later = (run: () => void) => queueMicrotask(() => setImmediate(run))
  const end = (code: number, reason: string) => {
    if (!isOpen) return
    isOpen = false
    later(() => {
      events.closed(code, reason)
      peer.closed(code, reason)
    })
  }
  const transport: Transport = {
    getBufferedAmount: () => 0,
    send: (message) => isOpen && later(() => peer.received(message)),
    close: end,
    terminate: () => end(1006, ''),
  }
  later(() => {
    peer.opened(
      {
        send(message) {
          if (!isOpen) return
          const size = typeof message === 'string' ? Buffer.byteLength(message) : message.byteLength
          if (size > maxMessageSize) end(1009, 'the message is too long')
          else later(() => events.received(message))
        },
        close: end,
      },
      protocol,
    )
    events.opened(transport)
  })
  return undefined
}
