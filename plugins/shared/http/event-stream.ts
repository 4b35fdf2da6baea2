import { clock, type Response, type Timer } from '../../../kernel/index.ts'

/** Without an event in it: shows a client that it is connected, and proxies that the connection is in use. */
export const comment = ':\n\n'

const encoder = new TextEncoder()

/** A stream of server-sent events that either side may end. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #timer: Timer
  readonly #onEnd: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  /**
   * @param first Sent immediately.
   * @param keepAlive Milliseconds between comments, which are sent while nothing else waits.
   * @param onEnd Called once when the stream has ended, regardless of which side ended it.
   * @param pull Called when the reader has taken everything, and waits.
   */
  constructor(first: string, keepAlive: number, onEnd: () => void, pull?: () => Promise<void>) {
    this.#onEnd = onEnd
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        ...(pull && { pull }),
        cancel: () => this.#ended(),
      },
      { highWaterMark: 0, size: (chunk) => chunk!.byteLength },
    )
    this.write(first)
    this.#timer = clock.setInterval(() => this.waiting === 0 && this.write(comment), keepAlive)
    this.#timer.unref()
  }

  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  /** How many bytes the reader has not taken yet. */
  get waiting(): number {
    return -(this.#controller?.desiredSize ?? 0)
  }

  /** Adds text to the stream, if it is open. */
  write(text: string): void {
    this.#controller?.enqueue(encoder.encode(text))
  }

  /** Ends the stream after what waits. With an error, that is dropped together with the connection. */
  end(error?: Error): void {
    const controller = this.#controller
    this.#ended()
    if (error === undefined) controller?.close()
    else controller?.error(error)
  }

  #ended(): void {
    if (this.#controller === undefined) return
    this.#controller = undefined
    clock.clear(this.#timer)
    this.#onEnd()
  }

  /** Sends it as a response. */
  respond(res: Response): Response {
    res.setHeader('content-type', 'text/event-stream; charset=utf-8')
    res.setHeader('cache-control', 'no-cache, no-store')
    // nginx would hold events back until its buffer is full.
    res.setHeader('x-accel-buffering', 'no')
    return res.stream(this.body)
  }
}
