// Not the global, which a runner may fake.
import { setImmediate } from 'node:timers'
import type { LinkedPeer } from '../../shared/http/linked-socket.ts'
import { openBun } from './bun.ts'
import type { OpenTransport, Transport } from './contract.ts'
import { openDeno } from './deno.ts'
import { openNode } from './node.ts'

/** Links the two ends within the process. Each frame arrives in a turn of its own, as over a network. */
const openLinked: OpenTransport = (connection, _headers, { protocol, maxMessageSize }, events) => {
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

/** Returns what opens the websockets of a server, by its adapter; within the process for tests. */
export async function transportOf(adapter: unknown): Promise<OpenTransport> {
  const isNative = adapter !== 'node'
  const ofRuntime =
    isNative && 'Bun' in globalThis ? openBun : isNative && 'Deno' in globalThis ? openDeno : await openNode()
  return (connection, ...rest) => (connection.runtime === 'inject' ? openLinked : ofRuntime)(connection, ...rest)
}
