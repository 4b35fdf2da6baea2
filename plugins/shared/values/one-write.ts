import type { Writable } from 'node:stream'

/** The part of a stream that collects what is written. */
export type Corked = Pick<Writable, 'cork' | 'uncork' | 'writableCorked'>

const uncork = (stream: Corked) => stream.uncork()

/** Lets what is written to a stream in this turn leave in one write: on a socket, each of them took 5 to 20 µs. */
export function inOneWrite(stream: Corked): void {
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(uncork, stream)
}
