import { Readable } from 'node:stream'
import { isFrameworkError } from '../../../kernel/index.ts'
import { StorageRefusedError, StorageUnavailableError } from '../errors.ts'
import { readableOf } from '../readable.ts'

/** Bytes for which a service is given a second more, in either direction: one megabit. */
const bytesPerSecond = 128 * 1024
/** Of a stream no more than this is under way at a time. */
export const partSize = 8 * 1024 ** 2
export const partsAtOnce = 2

const codes =
  /^E(?:CONN|TIMEDOUT|HOST|NET|AI_|PIPE|NOTFOUND|PROTO)|^ENOTFOUND|UND_ERR|REQUEST_SEND_ERROR|^Connection|FailedToOpen/
const names = /Timeout|AbortError|NetworkingError/
const sentences =
  /socket hang up|aborted|Unable to connect|connection (?:closed|reset|refused)|fetch failed|terminated/i

/** What the clients say where an answer says nothing, to HEAD for example. */
const nothing: readonly unknown[] = [undefined, '', 'Error', 'Unknown', 'UnknownError', 'RestError']

/** The status of an answer that says no, from either client. */
export function statusOf(error: unknown): number | undefined {
  const { $metadata, statusCode } = error as { $metadata?: { httpStatusCode?: number }; statusCode?: number }
  return $metadata?.httpStatusCode ?? statusCode
}

function isUnreachable(error: unknown): boolean {
  const { code, name, message, cause } = Object(error) as Record<string, unknown>
  if (codes.test(String(code)) || names.test(String(name)) || sentences.test(String(message))) return true
  return cause !== undefined && isUnreachable(cause)
}

/** A service that objects are kept in: nothing that is asked of it takes longer than it may, and failures have names. */
export class Backend {
  /** For messages. */
  readonly name: string
  readonly #timeout: number

  constructor(name: string, timeout: number) {
    this.name = name
    this.#timeout = timeout
  }

  /** Asks one question; the signal aborts when it has taken too long. `bytes` of content give it more time. */
  async ask<Answer>(question: (signal: AbortSignal) => Promise<Answer>, bytes = 0): Promise<Answer> {
    const clock = this.#clock()
    try {
      clock.start(bytes)
      return await clock.race(question(clock.signal))
    } catch (error) {
      throw this.failure(error)
    } finally {
      clock.stop()
    }
  }

  /** Sends a stream. Time counts while the service has all that it asked for, not while the source makes others wait. */
  async send(source: Readable, question: (body: Readable, signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const clock = this.#clock()
    let sourceFailed: { readonly error: unknown } | undefined
    const chunks = source[Symbol.asyncIterator]()
    // Only what comes out of the source is its failure: who stops reading throws into a generator too.
    const next = () =>
      chunks.next().catch((error) => {
        sourceFailed = { error }
        throw error
      })
    async function* watched(): AsyncGenerator<Uint8Array> {
      let bytes = 0
      for (let step = await next(); !step.done; step = await next()) {
        bytes += (step.value as Uint8Array).length
        clock.start(Math.min(bytes, partSize * partsAtOnce))
        yield step.value as Uint8Array
        clock.stop()
      }
      clock.start(Math.min(bytes, partSize * partsAtOnce))
    }
    const body = Readable.from(watched(), { objectMode: false })
    body.on('error', () => {})
    try {
      await clock.race(question(body, clock.signal))
    } catch (error) {
      if (sourceFailed !== undefined) throw sourceFailed.error
      throw this.failure(error)
    } finally {
      clock.stop()
      body.destroy()
      source.destroy()
    }
  }

  #clock() {
    const cut = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let fail!: (error: Error) => void
    const late = new Promise<never>((_resolve, reject) => {
      fail = reject
    })
    late.catch(() => {})
    const stop = () => clearTimeout(timer)
    const start = (bytes: number) => {
      clearTimeout(timer)
      const ms = this.#timeout + Math.ceil((bytes / bytesPerSecond) * 1000)
      timer = setTimeout(() => {
        const error = StorageUnavailableError(this.name, `no answer within ${ms} ms`)
        fail(error)
        cut.abort(error)
      }, ms)
    }
    const race = <Answer>(work: Promise<Answer>): Promise<Answer> => {
      // Who is late may still fail, when no one listens any more.
      work.catch(() => {})
      return Promise.race([work, late])
    }
    return { signal: cut.signal, start, stop, race }
  }

  /**
   * What the service sends, failing when it falls silent or ends early; destroyed, it lets go of the connection. The size
   * is `undefined` where the service does not tell it.
   */
  receive(source: Readable, size: number | undefined): Readable {
    // A failure between two reads is met by the next read; without a listener it would end the process.
    source.on('error', () => {})
    const chunks = source[Symbol.asyncIterator]()
    const backend = this
    let received = 0
    async function next(): Promise<Uint8Array | null> {
      const step = await backend.ask(() => chunks.next())
      if (!step.done) {
        received += (step.value as Uint8Array).length
        return step.value as Uint8Array
      }
      if (size === undefined || received === size) return null
      throw StorageUnavailableError(backend.name, `it ended after ${received} of ${size} bytes`)
    }
    return readableOf(next, () => void source.destroy())
  }

  failure(error: unknown): Error {
    if (isFrameworkError(error)) return error
    const status = statusOf(error)
    const { name, code, message } = Object(error) as Record<string, unknown>
    // What is below the first line are numbers of the request, and advice for authors of the client.
    const parts = [status, code ?? name, String(message ?? '').split('\n', 1)[0]]
    // Older clients of S3 name an error by its status.
    const why = [...new Set(parts.filter((part) => !nothing.includes(part)).map(String))].join(' ')
    const isDown = status === undefined ? isUnreachable(error) : status >= 500 || status === 429
    return Object.assign(isDown ? StorageUnavailableError(this.name, why) : StorageRefusedError(this.name, why), {
      cause: error,
    })
  }
}
