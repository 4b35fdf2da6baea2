import { clock } from '../../kernel/index.ts'
import { type Deferred, deferred } from '../shared/values/promises.ts'
import type { QueueHandler, QueueMessage } from './subscription.ts'

/** Handles several messages together; an exception or a rejection is a failed attempt of each of them. */
export type QueueBatchHandler<Payload> = (payloads: Payload[], messages: QueueMessage[]) => unknown

/** How messages are collected. */
export interface BatchSettings {
  /** The maximum number of messages. */
  readonly size: number
  /** Milliseconds for which the first one waits for others. */
  readonly wait: number
}

interface Collected {
  readonly payloads: unknown[]
  readonly messages: QueueMessage[]
  readonly done: Deferred<unknown>
}

/** A handler that is called once for several messages. */
export function collecting(handler: QueueBatchHandler<unknown>, { size, wait }: BatchSettings): QueueHandler<unknown> {
  let open: Collected | undefined
  const flush = (batch: Collected) => {
    if (open === batch) open = undefined
    const { payloads, messages, done } = batch
    // Called later, so that an exception is a rejection as well.
    Promise.resolve()
      .then(() => handler(payloads, messages))
      .then(done.resolve, done.reject)
  }
  return (payload, message) => {
    let batch = open
    if (batch === undefined) {
      const begun: Collected = { payloads: [], messages: [], done: deferred<unknown>() }
      batch = open = begun
      clock.setTimeout(() => open === begun && flush(begun), wait)
    }
    batch.payloads.push(payload)
    batch.messages.push(message)
    if (batch.payloads.length === size) flush(batch)
    return batch.done.promise
  }
}
