import { clock, type Timer } from '../../kernel/index.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { type Deferred, deferred } from '../shared/values/promises.ts'
import { currentTenant, inTenant, type Tenant } from '../shared/values/tenants.ts'

/** What a handler receives along with the payload of its message. */
export interface QueueMessage {
  /** The id that `publish` returned, the same at each attempt. */
  readonly id: string
  /** The name of the queue. */
  readonly queue: string
  /** Which attempt this is, 1 for the first. */
  readonly attempt: number
  /** The maximum number of attempts; `undefined` where only the engine knows it. */
  readonly attempts: number | undefined
  /** Aborts when the attempt has reached its time limit, and when closing no longer waits for it. */
  readonly signal: AbortSignal
}

/** Handles one message; an exception or a rejection is a failed attempt. */
export type QueueHandler<Payload> = (payload: Payload, message: QueueMessage) => unknown

/** Handles several messages together; an exception or a rejection is a failed attempt of each of them. */
export type QueueBatchHandler<Payload> = (payloads: Payload[], messages: QueueMessage[]) => unknown

/** How messages are collected. */
export interface BatchSettings {
  /** The maximum number of messages. */
  readonly size: number
  /** Milliseconds for which the first one waits for others. */
  readonly wait: number
}

/** Messages for one call. */
interface Collected {
  readonly entries: { readonly payload: unknown; readonly message: QueueMessage }[]
  /** Has what its call returns, once it has begun. */
  readonly begun: Deferred<() => unknown>
  readonly timer: Timer
  readonly tenant: Tenant | undefined
}

/** A handler that is called once for several messages, with `concurrency` calls at once; `waitFor` returns how long the first one waits for others. */
export function collecting(
  handler: QueueBatchHandler<unknown>,
  size: number,
  waitFor: () => number,
  concurrency: number,
) {
  /** By the id of the tenant: a call has the messages of one tenant. */
  const open = new Map<string | undefined, Collected>()
  let calls = 0
  const ready: Collected[] = []
  const next = () => {
    while (calls < concurrency && ready.length > 0) {
      calls++
      const batch = ready.shift()!
      void inTenant(batch.tenant, () => callFor(handler, batch)).finally(() => {
        calls--
        next()
      })
    }
  }
  const end = (batch: Collected) => {
    // It would end a later batch, and keep the process alive until then.
    clock.clear(batch.timer)
    ready.push(batch)
    open.delete(batch.tenant?.id)
    next()
  }
  const handle: QueueHandler<unknown> = (payload, message) => {
    const tenant = currentTenant()
    const batch = madeIn(open, tenant?.id, (): Collected => {
      const timer = clock.setTimeout(() => end(batch), waitFor())
      return { entries: [], begun: deferred<() => unknown>(), timer, tenant }
    })
    batch.entries.push({ payload, message })
    if (batch.entries.length === size) end(batch)
    return batch.begun.promise
  }
  /** Waits for no further messages: no others come. */
  const flush = () => open.forEach(end)
  return { handle, flush }
}

/** Collects messages. */
export type Collector = ReturnType<typeof collecting>

/** Calls the handler; resolves when it has ended, or when the attempt of each message has: what never ends must not keep its place. */
async function callFor(handler: QueueBatchHandler<unknown>, { entries, begun }: Collected): Promise<void> {
  // An attempt may have reached its time limit before the call: the message will come again.
  const current = entries.filter(({ message }) => !message.signal.aborted)
  if (current.length === 0) return
  const given = deferred()
  let left = current.length
  const payloads = current.map(({ payload }) => payload)
  const messages = current.map(({ message }) => message)
  for (const message of messages) message.signal.addEventListener('abort', () => --left === 0 && given.resolve())
  try {
    const handled = (async () => handler(payloads, messages))()
    begun.resolve(() => handled)
    await Promise.race([handled, given.promise])
  } catch {
    // The attempts of its messages have failed.
  }
}
