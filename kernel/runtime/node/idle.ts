import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { OpenResponse, OpenSocket } from './direct.ts'

const intervalMs = 1000

/** How much longer than announced a connection is kept: the next request may be on its way. */
const graceMs = 500

// Bound before the clock can be faked: advancing a fake clock would end the connections of a whole test suite.
const clock = performance.now.bind(performance)

const takenOver = new WeakSet<Duplex>()

/** Excludes a connection that now speaks another protocol, which decides how long it may be silent. */
export function leaveIdle(socket: Duplex): void {
  takenOver.add(socket)
}

/** Lets a response announce how long its connection is kept, as Node does where it measures the time itself. */
export function announce(response: ServerResponse, timeout: number): void {
  ;(response as OpenResponse)._keepAliveTimeout = timeout
}

/**
 * Ends connections that have had a response and then stay silent for `timeout`; returns a function that stops this.
 *
 * Node sets and clears a timer with every response instead: a twentieth of the cost of a small response. As in Node, a head that
 * stops halfway counts as silence, and the other limits apply to a connection that has not had a response yet.
 */
export function endIdle(sockets: ReadonlySet<OpenSocket>, timeout: number): () => void {
  const seen = new WeakMap<OpenSocket, { bytes: number; since: number }>()
  const sweep = () => {
    const now = clock()
    for (const socket of sockets) {
      // A response is being made or sent, or there has not been one yet.
      if (socket._httpMessage || socket.writableLength > 0 || socket.bytesWritten === 0 || takenOver.has(socket))
        continue
      const before = seen.get(socket)
      if (before === undefined || before.bytes !== socket.bytesRead) {
        seen.set(socket, { bytes: socket.bytesRead, since: now })
      } else if (now - before.since >= timeout + graceMs) socket.destroy()
    }
  }
  const timer = setInterval(sweep, intervalMs).unref()
  return () => clearInterval(timer)
}
