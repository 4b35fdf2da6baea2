import type { StreamBody } from '../http/raw.ts'
import { BadRequestError, PayloadTooLargeError } from '../support/errors.ts'
import { asChunk, lengthGuard, openSource } from './body-source.ts'

const encoder = new TextEncoder()

/**
 * Reads the whole body of a web request, never more than `limit` bytes of it.
 *
 * `framed`: the runtime itself cuts the body at its declared length, which the caller has compared with the limit, so
 * the native reader does the work.
 */
export async function readWebBody(request: globalThis.Request, limit: number, framed: boolean): Promise<Uint8Array> {
  if (framed) return new Uint8Array(await request.arrayBuffer().catch(raiseGone))
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of streamWebBody(request.body)) {
    size += chunk.length
    if (size > limit) throw PayloadTooLargeError(`${limit} bytes`)
    chunks.push(chunk)
  }
  if (chunks.length === 1) return chunks[0]!
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** The body piece by piece; leaving the loop early cancels the rest, also while a piece is waited for. */
export function streamWebBody(body: ReadableStream<Uint8Array> | null): AsyncIterableIterator<Uint8Array> {
  const reader = body?.getReader()
  const leave = () => void reader?.cancel().catch(ignore)
  return {
    async next() {
      const { done, value } = (await reader?.read().catch(() => {
        leave()
        return raiseGone()
      })) ?? { done: true, value: undefined }
      return done ? { done, value: undefined } : { done, value }
    },
    async return() {
      leave()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Headers as a `Response` takes them fastest: a plain object, unless one of them repeats. */
export function webHeaders(flat: readonly string[]): Record<string, string> | Headers {
  const plain: Record<string, string> = {}
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!
    if (plain[name] !== undefined) return repeatedHeaders(flat)
    plain[name] = flat[i + 1]!
  }
  return plain
}

function repeatedHeaders(flat: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i < flat.length; i += 2) headers.append(flat[i]!, flat[i + 1]!)
  return headers
}

/** A body that is whole already. A text without a content type must not be given one by the `Response` constructor. */
export function plainBody(body: string | Uint8Array | null, headers: readonly string[]): BodyInit | null {
  if (body === null || body.length === 0) return null
  if (typeof body !== 'string') return body as Uint8Array<ArrayBuffer>
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-type') return body
  return encoder.encode(body)
}

/** What tells how a streamed answer went. */
export interface StreamEvents {
  onEnd(): void
  /** The client left before the end. */
  onCancel(): void
  onError(error: unknown): void
}

/** Any stream as the web stream that a `Response` takes: one piece is read when one is wanted, none ahead. */
export function webStream(
  body: StreamBody,
  length: number | undefined,
  events: StreamEvents,
): ReadableStream<Uint8Array> {
  const source = openSource(body)
  const guard = lengthGuard(length)
  let cancelled = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await source.next()
          if (cancelled) return
          if (done) {
            guard.end()
            events.onEnd()
            controller.close()
            return
          }
          const chunk = asChunk(value)
          const bytes = typeof chunk === 'string' ? encoder.encode(chunk) : chunk
          guard.add(bytes.length)
          controller.enqueue(bytes)
        } catch (error) {
          if (cancelled) return
          source.cancel()
          events.onError(error)
          // An errored stream makes the runtime break the connection off: half an answer must not look finished.
          controller.error(error)
        }
      },
      cancel() {
        cancelled = true
        source.cancel()
        events.onCancel()
      },
    },
    { highWaterMark: 0 },
  )
}

function raiseGone(): never {
  throw BadRequestError('the connection ended before the body was complete')
}

function ignore(): void {}
