import type { Readable } from 'node:stream'
import { type StreamBody, systemClock } from '../../kernel/index.ts'
import { type BodySource, openSource } from '../shared/http/streams.ts'
import type { Coder, CoderStream } from './coders.ts'

/** Milliseconds for which a piece is held back for better compression, when no other piece follows. */
const idleMs = 20

/**
 * Returns the compressed body, read with backpressure. A piece that no other follows is sent after a moment, so
 * that slow bodies still arrive bit by bit. Ending the read ends the body; a body that fails aborts the response.
 */
export function compressStream(body: StreamBody, coder: Coder): Readable {
  const source = openSource(body)
  const stream = coder.stream()
  let ended = false
  // The reader receives errors in any case; without a listener, an error after an abandoned response would end the process.
  stream.on('error', ignore)
  stream.once('close', () => {
    if (!ended) source.cancel()
  })
  const fail = (error: unknown) => {
    source.cancel()
    stream.destroy(error instanceof Error ? error : new Error(String(error)))
  }
  const read = stream.read.bind(stream)
  // Begins with the first read, in the context of the reader: an `onSend` hook of an inner scope, which runs later, may give the body one.
  stream.read = (size) => {
    stream.read = read
    const pumping = pump(source, stream, coder.flushKind).finally(() => {
      ended = true
    })
    pumping.catch(fail)
    return read(size)
  }
  return stream
}

async function pump(source: BodySource, stream: CoderStream, flushKind: number): Promise<void> {
  let isFlushed = true
  const flush = () => {
    isFlushed = true
    if (!stream.destroyed) stream.flush(flushKind)
  }
  while (!stream.destroyed) {
    const timer = isFlushed ? undefined : systemClock.setTimeout(flush, idleMs)
    let piece: Awaited<ReturnType<BodySource['next']>>
    try {
      piece = await source.next()
    } finally {
      systemClock.clear(timer)
    }
    if (stream.destroyed) break
    if (piece.done) return void stream.end()
    isFlushed = false
    if (!stream.write(piece.value as Uint8Array | string)) await drained(stream)
  }
  source.cancel()
}

function drained(stream: CoderStream): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off('drain', go).off('close', go)
      resolve()
    }
    stream.on('drain', go).on('close', go)
  })
}

function ignore(): void {}
