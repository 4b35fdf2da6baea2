import { IncomingMessage } from 'node:http'
import { LimitedBody } from '../body-limit.ts'
import { EndedEarlyError } from '../head.ts'

/** Reads the whole body, but never more than `limit` bytes; `onLeft` is called when the rest will not be read. */
export type BodyReader = (message: IncomingMessage, limit: number, onLeft: () => void) => Promise<Uint8Array>

/** A caller that is waiting for a body, and the parts received so far. */
class Collector extends LimitedBody {
  readonly onLeft: () => void
  readonly resolve: (body: Uint8Array) => void
  readonly reject: (error: Error) => void

  constructor(limit: number, onLeft: () => void, resolve: Collector['resolve'], reject: Collector['reject']) {
    super(limit)
    this.onLeft = onLeft
    this.resolve = resolve
    this.reject = reject
  }
}

/** The undocumented members of a message of `node:http`; `probe.ts` checks that they behave as expected. */
interface OpenMessage {
  readonly _readableState: Record<
    'dataEmitted' | 'ended' | 'endEmitted' | 'destroyed' | 'closed' | 'closeEmitted',
    boolean
  >
  _read(size: number): void
}

/** A message whose body the parser can pass directly to a waiting caller, bypassing the stream. */
export class CollectingMessage extends IncomingMessage {
  collector: Collector | undefined = undefined

  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    const { collector } = this
    if (collector === undefined) return super.push(chunk, encoding)
    if (chunk === null) return this.#end(collector)
    const refusal = collector.add(chunk)
    const { _readableState: state } = this as unknown as OpenMessage
    state.dataEmitted = true
    if (refusal === undefined) return true
    // Later parts go into the stream, which accepts no more than its high water mark.
    this.pause()
    this.#leave(collector, refusal)
    return true
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.collector !== undefined) this.#leave(this.collector, EndedEarlyError())
    super._destroy(error, done)
  }

  #leave({ onLeft, reject }: Collector, error: Error): void {
    this.collector = undefined
    onLeft()
    reject(error)
  }

  /** Leaves the message in the state of one that was read in full. */
  #end(collector: Collector): boolean {
    this.collector = undefined
    collector.resolve(collector.whole())
    // A listener was added in the meantime.
    if (this.eventNames().length > 0) return this.resume().push(null)
    const { _readableState: state } = this as unknown as OpenMessage
    state.ended = state.endEmitted = state.destroyed = state.closed = state.closeEmitted = true
    return false
  }
}

const { push } = CollectingMessage.prototype
const { on } = IncomingMessage.prototype

/** Whether no part of the body has arrived yet, and no code has looked at it, listens to it, or reads it with a method of its own. */
export function isUntouched(message: IncomingMessage): boolean {
  const isOurs = message.push === push && message.on === on
  const isNew = !message.complete && !message.destroyed && message.readableLength === 0
  return isOurs && isNew && message.readableFlowing === null && message.eventNames().length === 0
}

/**
 * Does the same as `readBody` for an untouched message, but without events. Each of `'data'`, `'end'` and `'close'` has a tick of its
 * own, and a small body needs none of them: without them, a validated POST takes 0.9 times as long.
 */
export const collectBody: BodyReader = (message, limit, onLeft) =>
  new Promise((resolve, reject) => {
    ;(message as CollectingMessage).collector = new Collector(limit, onLeft, resolve, reject)
    // This makes it count as read: otherwise Node would drop the bytes after the response.
    ;(message as unknown as OpenMessage)._read(0)
  })
