import { Readable } from 'node:stream'
import { isFrameworkError, systemClock, type Timer } from '../../../kernel/index.ts'
import { openSource } from '../../shared/http/streams.ts'
import { isUnreachable } from '../../shared/stores/unreachable.ts'
import { deferred } from '../../shared/values/promises.ts'
import { readableOf } from '../data.ts'
import { StorageRefusedError, StorageUnavailableError } from '../errors.ts'

/** Bytes, in either direction, that extend a timeout by one second: a megabit per second. */
const bytesPerSecond = 128 * 1024
/** At most this many bytes of a stream are being sent at a time. */
export const partSize = 8 * 1024 ** 2
export const partsAtOnce = 2

/** What the clients use as placeholders for a response without details, such as one to HEAD. */
const nothing: readonly unknown[] = [undefined, '', 'Error', 'Unknown', 'UnknownError', 'RestError']

/** The status of a refusal, from either client. */
function statusOf(error: unknown): number | undefined {
  const { $metadata, statusCode } = error as { $metadata?: { httpStatusCode?: number }; statusCode?: number }
  return $metadata?.httpStatusCode ?? statusCode
}

/** The answer, or `undefined` if the object is missing. An error with the code `noStorage` means more, and is thrown. */
export async function ifThere<Result>(answer: Promise<Result>, noStorage: string): Promise<Result | undefined> {
  try {
    return await answer
  } catch (error) {
    const { cause } = error as { cause?: { name?: string; code?: string; details?: { errorCode?: string } } }
    if (cause === undefined || statusOf(cause) !== 404) throw error
    if ([cause.name, cause.code, cause.details?.errorCode].includes(noStorage)) throw error
    return undefined
  }
}

/** The service of a provider: gives every call a timeout and every failure a named error. */
export class Backend {
  /** The name of the service in messages. */
  readonly name: string
  readonly #timeout: number

  constructor(name: string, timeout: number) {
    this.name = name
    this.#timeout = timeout
  }

  /** Makes one call, whose signal aborts after the timeout; `bytes` of content extend the timeout. */
  async ask<Result>(question: (signal: AbortSignal) => Promise<Result>, bytes = 0): Promise<Result> {
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

  /** Sends a stream. The timeout runs while the service has all the data it requested, not while it waits for the source. */
  async send(source: Readable, question: (body: Readable, signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const clock = this.#clock()
    let sourceFailed: { readonly error: unknown } | undefined
    const chunks = source[Symbol.asyncIterator]()
    // Only an error of the source itself is its failure: ending the read also throws into a generator.
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
    let timer: Timer | undefined
    const late = deferred<never>()
    late.promise.catch(() => {})
    const stop = () => systemClock.clear(timer)
    const start = (bytes: number) => {
      systemClock.clear(timer)
      const ms = this.#timeout + Math.ceil((bytes / bytesPerSecond) * 1000)
      timer = systemClock.setTimeout(() => {
        const error = StorageUnavailableError(this.name, `no response within ${ms} ms`)
        late.reject(error)
        cut.abort(error)
      }, ms)
    }
    const race = <Result>(work: Promise<Result>): Promise<Result> => {
      // The late call may still fail, without a listener by then.
      work.catch(() => {})
      return Promise.race([work, late.promise])
    }
    return { signal: cut.signal, start, stop, race }
  }

  /**
   * The data that the service sends. Fails if the service is silent for too long or ends early; destroying it releases the connection.
   * The size is `undefined` if the service does not send it.
   */
  receive(source: Readable, size: number | undefined): Readable {
    const { next, cancel } = openSource(source)
    let received = 0
    return readableOf(async () => {
      const { done, value } = await this.ask(next)
      received += done ? 0 : (value as Uint8Array).length
      if (!done) return value as Uint8Array
      if (size === undefined || received === size) return null
      throw StorageUnavailableError(this.name, `it ended after ${received} of ${size} bytes`)
    }, cancel)
  }

  failure(error: unknown): Error {
    if (isFrameworkError(error)) return error
    const status = statusOf(error)
    const { name, code, message } = Object(error) as Record<string, unknown>
    // The first line is followed by request ids and advice for the authors of the client.
    const parts = [status, code ?? name, String(message ?? '').split('\n', 1)[0]]
    // Older S3 clients use the status as the name of an error.
    const why = [...new Set(parts.filter((part) => !nothing.includes(part)).map(String))].join(' ')
    const isDown = status === undefined ? isUnreachable(error) : status >= 500 || status === 429
    return Object.assign(isDown ? StorageUnavailableError(this.name, why) : StorageRefusedError(this.name, why), {
      cause: error,
    })
  }
}
