import { type Logger, systemClock } from '../../kernel/index.ts'
import { Availability, reporting } from '../shared/stores/availability.ts'
import { deferred } from '../shared/values/promises.ts'
import type { ListenEvents, OpenDriver } from './drivers/contract.ts'

/** The channel of all outboxes of a database; a notification names the sender whose messages have been committed. */
export const channel = 'framework_outbox'

/** Listens until the signal aborts, on one connection after the other. In between, messages of other processes are found by looking. */
export async function listenUntil(
  signal: AbortSignal,
  listen: NonNullable<OpenDriver['listen']>,
  { open, message }: Pick<ListenEvents, 'open' | 'message'>,
  log: Logger,
): Promise<void> {
  const down = 'the outbox is not notified of messages of other processes, and looks for them'
  const up = 'the outbox is notified of messages of other processes again'
  const availability = new Availability(reporting(log, down, up))
  const opened = () => {
    availability.works()
    open()
  }
  while (!signal.aborted) {
    const lost = deferred<never>()
    const lose = () => lost.reject(new Error('the connection has ended'))
    signal.addEventListener('abort', lose)
    // Only awaited once it listens.
    lost.promise.catch(() => {})
    const end = (error: unknown) => signal.aborted || availability.fails(error)
    await listen(channel, { open: opened, message, lost: lose }, lost.promise).catch(end)
    signal.removeEventListener('abort', lose)
    // All processes lose theirs when Postgres restarts, and must not come back together.
    await systemClock.sleep(100 + Math.random() * 900, signal).catch(() => {})
  }
}
