import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StreamBody } from '../../http/raw.ts'
import { openSource } from '../../http/streams.ts'
import { PayloadTooLargeError } from '../../support/errors.ts'
import { Slices } from '../give-way.ts'
import { asChunk, lengthGuard } from '../sending.ts'
import { type BodyReader, EndedEarlyError } from './message.ts'

/**
 * Reads the whole body into one piece of memory, never more than `limit` bytes of it. `onLeft` is called before the
 * promise rejects: a `catch` of the caller would be one more promise for every body that arrives whole.
 */
export const readBody: BodyReader = (message, limit, onLeft) =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const onData = (chunk: Uint8Array) => {
      size += chunk.length
      if (size > limit) {
        release()
        message.pause()
        onLeft()
        reject(PayloadTooLargeError(`${limit} bytes`))
      } else {
        chunks.push(chunk)
      }
    }
    const onEnd = () => {
      release()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    }
    const onGone = () => {
      release()
      onLeft()
      reject(EndedEarlyError())
    }
    const release = () => {
      message.off('data', onData).off('end', onEnd).off('close', onGone)
    }
    // 'error' stays: what follows an abort must find a listener.
    message.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
    if (message.destroyed) onGone()
  })

/** Takes a body that nobody reads off the wire, so that the next request can come, and no more than `limit` bytes of it. */
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

/** A body that is read piece by piece. */
interface StreamedBody extends AsyncIterableIterator<Uint8Array> {
  /** Whether some of it is still to come, and nobody waits for it. */
  isStalled(): boolean
}

/**
 * The body piece by piece, from the first piece that somebody asks for, which `onBegin` is told of. Leaving the loop early
 * keeps the socket, on which somebody still wants to answer, and tells `onLeft`. No generator: one would leave only when the
 * piece it waits for has arrived, which a slow client never sends.
 */
export function streamBody(message: IncomingMessage, onBegin: () => void, onLeft: () => void): StreamedBody {
  let source: AsyncIterator<Uint8Array> | undefined
  let over = false
  let waiting = 0
  const leave = () => {
    if (!over) onLeft()
    over = true
  }
  const begin = () => {
    onBegin()
    return message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  }
  return {
    async next() {
      if (over) return { done: true, value: undefined }
      source ??= begin()
      waiting++
      const result = await source.next().catch(() => {
        leave()
        return raiseGone()
      })
      waiting--
      if (result.done === true) over = true
      return result
    },
    async return() {
      leave()
      return { done: true, value: undefined }
    },
    isStalled: () => source !== undefined && !over && waiting === 0,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function raiseGone(): never {
  throw EndedEarlyError()
}

/**
 * Sends a stream with backpressure; resolves when all is written, rejects when the answer could not be completed.
 * `hasLatin1`: the head leaves with the first piece, which is bytes.
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
  const onClose = () => {
    gone = true
    source.cancel()
    wake?.()
  }
  const onDrain = () => wake?.()
  response.on('close', onClose).on('drain', onDrain)
  try {
    // The head must not wait for the first piece: an event stream may have nothing to say for minutes.
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
    // A source that fails because it was cancelled is no news.
    if (gone) return
    source.cancel()
    throw error
  } finally {
    response.off('close', onClose).off('drain', onDrain)
  }
}

function ignore(): void {}
