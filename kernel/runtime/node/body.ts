import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StreamBody } from '../../http/raw.ts'
import { ignore, openSource } from '../../http/streams.ts'
import { collected } from '../body-limit.ts'
import { EndedEarlyError } from '../head.ts'
import { asChunk, lengthGuard, Slices } from '../sending.ts'
import type { BodyReader } from './message.ts'

/** Reads the whole body, but never more than `limit` bytes, from a message whose stream other code has looked at or listens to. */
export const readBody: BodyReader = (message, limit, onLeft) => collected(streamBody(message, ignore, onLeft), limit)

/** Reads and discards at most `limit` bytes of an unread body, so that the next request can arrive. */
export function discardBody(message: IncomingMessage, limit: number, onTooMuch: () => void): void {
  let size = 0
  const onData = (chunk: Uint8Array) => {
    size += chunk.length
    if (size <= limit) return
    message.off('data', onData).pause()
    onTooMuch()
  }
  message.on('data', onData).on('error', ignore)
}

/**
 * Ends a body that is being read when its connection closes: `node:http` forgets the message with the end of its response, and the reader,
 * with what it holds open, would wait for ever.
 */
export function endWithSocket(message: IncomingMessage): void {
  const end = () => message.destroy()
  // Reading may begin after the response, and after its client has left.
  if (message.destroyed || message.socket.destroyed) return void end()
  message.socket.once('close', end)
  message.once('close', () => message.socket.off('close', end))
}

/** A body that is read piece by piece. */
interface StreamedBody extends AsyncIterableIterator<Uint8Array> {
  /** Whether some of it is still to come, and no reader waits for it. */
  isStalled(): boolean
}

/** A reader that is waiting for a piece. */
interface Reader {
  resolve(result: IteratorResult<Uint8Array>): void
  reject(error: Error): void
}

/**
 * The body piece by piece; reading begins, and `onBegin` is called, when the first piece is requested. Leaving the loop early
 * keeps the socket, on which a response may still be written, and calls `onLeft`.
 *
 * Not a generator, which would end only when the awaited piece has arrived, and a slow client never sends it. Nor the iterator of
 * the message: it joins the received pieces in new memory, and an upload of 1 MB costs a tenth more with it.
 */
export function streamBody(message: IncomingMessage, onBegin: () => void, onLeft: () => void): StreamedBody {
  const pieces: Uint8Array[] = []
  let readers: Reader[] = []
  let state: 'new' | 'open' | 'ended' | 'broken' | 'over' = 'new'
  const settleAll = (settle: (reader: Reader) => void) => {
    const waiting = readers
    readers = []
    for (const reader of waiting) settle(reader)
  }
  const onData = (piece: Uint8Array) => {
    const reader = readers.shift()
    if (reader !== undefined) reader.resolve({ done: false, value: piece })
    else {
      pieces.push(piece)
      message.pause()
    }
  }
  const onEnd = () => {
    state = 'ended'
    if (readers.length > 0) over()
    settleAll(({ resolve }) => resolve({ done: true, value: undefined }))
  }
  const onGone = () => {
    if (state !== 'open') return
    state = 'broken'
    if (readers.length === 0) return
    leave()
    settleAll(({ reject }) => reject(EndedEarlyError()))
  }
  const over = () => {
    state = 'over'
    // The listener for 'error' stays: an error after an abort must find one.
    message.off('data', onData).off('end', onEnd).off('close', onGone)
  }
  const leave = () => {
    if (state === 'over') return
    over()
    message.pause()
    onLeft()
  }
  const begin = () => {
    onBegin()
    state = message.readableEnded ? 'ended' : message.destroyed ? 'broken' : 'open'
    message.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  }
  return {
    async next() {
      if (state === 'new') begin()
      const value = pieces.shift()
      if (value !== undefined) return { done: false, value }
      if (state === 'broken') {
        leave()
        throw EndedEarlyError()
      }
      if (state !== 'open') {
        over()
        return { done: true, value: undefined }
      }
      if (message.isPaused()) message.resume()
      return new Promise((resolve, reject) => readers.push({ resolve, reject }))
    },
    async return() {
      leave()
      return { done: true, value: undefined }
    },
    isStalled: () => (state === 'open' || state === 'broken') && readers.length === 0,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/**
 * Sends a stream with backpressure; resolves when all is written, rejects when the response could not be completed.
 * With `hasLatin1`, the head is sent with the first piece, which is bytes.
 */
export async function writeStream(
  response: ServerResponse,
  body: StreamBody,
  length: number | undefined,
  hasLatin1: boolean,
): Promise<void> {
  const source = openSource(body)
  const guard = lengthGuard(length)
  const slices = new Slices()
  let gone = response.destroyed
  let wake: (() => void) | undefined
  let isWatched = false
  const onClose = () => {
    gone = true
    source.cancel()
    wake?.()
  }
  const onDrain = () => wake?.()
  response.on('close', onClose).on('drain', onDrain)
  try {
    // The head must not wait for the first piece: an event stream may send nothing for minutes.
    if (!hasLatin1) response.flushHeaders()
    while (!gone) {
      const { done, value } = await source.next()
      if (gone) return
      if (done) {
        guard.end()
        response.end()
        return
      }
      const piece = asChunk(value)
      const chunk = hasLatin1 && typeof piece === 'string' ? Buffer.from(piece) : piece
      guard.add(typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length)
      if (!response.write(chunk)) {
        // A client that never reads never causes a 'drain': a source that gives up on it must end the connection.
        if (!isWatched) source.onFailure?.(() => wake?.())
        isWatched = true
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
      }
      const turn = slices.next()
      if (turn !== undefined) await turn
    }
    source.cancel()
  } catch (error) {
    // A source that fails because it was cancelled needs no report.
    if (gone) return
    source.cancel()
    throw error
  } finally {
    response.off('close', onClose).off('drain', onDrain)
  }
}
