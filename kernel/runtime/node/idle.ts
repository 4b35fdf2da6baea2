import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { OpenResponse, OpenSocket } from './direct.ts'

const intervalMs = 1000

/** How much longer than announced a connection is kept: the next request may be under way. */
const graceMs = 500

// Bound before anyone can fake the clock: advancing a faked one would end the connections of a whole test suite.
const clock = performance.now.bind(performance)

const takenOver = new WeakSet<Duplex>()

/** A connection that speaks another protocol now: how long that may be silent, the protocol decides. */
export function leaveIdle(socket: Duplex): void {
  takenOver.add(socket)
}

/** Lets an answer announce how long its connection is kept, as node does where it counts the time itself. */
export function announce(response: ServerResponse, timeout: number): void {
  ;(response as OpenResponse)._keepAliveTimeout = timeout
}

/**
 * Ends connections that have had an answer and then stay silent for `timeout`, and returns how to stop that.
 *
 * Node arms and disarms a timer with every answer instead: a twentieth of what a small one costs. As there, a head that
 * stops half way counts as silence, and a connection without an answer yet is the affair of the other limits.
 */
export function endIdle(sockets: ReadonlySet<OpenSocket>, timeout: number): () => void {
  const seen = new WeakMap<OpenSocket, { bytes: number; since: number }>()
  const sweep = () => {
    const now = clock()
    for (const socket of sockets) {
      // An answer is being made or sent, or there never was one.
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
