import { isInTime, systemClock } from '../../kernel/index.ts'
import { Declarations, type Runner } from '../shared/work/declarations.ts'
import { queueLog } from './engines.ts'
import type { Subscription } from './subscription.ts'

/** The subscribers of this process. They may be declared anywhere, and are run by a server or a script. */
export const declarations = new Declarations<Subscription, Runner<Subscription>>()
/** Subscribers that were removed while a handler ran: closing waits for them as well. */
const leaving = new Map<Subscription, Promise<void>>()

export async function addSubscription(subscription: Subscription): Promise<void> {
  await declarations.add(subscription)
  // A subscriber in memory is active immediately where no server is responsible: no other process could take its messages, so tests
  // and scripts need nothing else.
  if (declarations.expected.size === 0 && subscription.queue.kind === 'memory') await subscription.start()
}

/** Removes one subscriber; resolves when it receives no more messages. Those in progress continue. */
export async function removeSubscription(subscription: Subscription): Promise<void> {
  if (!declarations.has(subscription)) return
  declarations.remove(subscription)
  const { quiet, ended } = subscription.stop()
  const left = ended.finally(() => leaving.delete(subscription))
  leaving.set(subscription, left)
  await quiet
}

const subscriptions = (): Subscription[] => [...declarations.all, ...leaving.keys()]

/** Ends all subscribers; resolves when none has a message in progress. */
export async function endAll(): Promise<void> {
  await Promise.all([...subscriptions().map((subscription) => subscription.stop().ended), ...leaving.values()])
}

/** Waits for the end of all subscribers, and in the end no longer. */
export async function endWithin(drained: Promise<void>, limit: number): Promise<void> {
  if (await isInTime(drained, limit, systemClock)) return
  const all = subscriptions()
  const running = all.reduce((sum, one) => sum + one.running, 0)
  const inMemory = all.reduce((sum, one) => sum + (one.queue.kind === 'memory' ? one.running : 0), 0)
  const queues = [...new Set(all.filter((one) => one.running > 0).map(({ queue }) => queue.name))]
  const what =
    running > 0
      ? `${running === 1 ? 'a handler of a queue was' : `${running} handlers of queues were`} still running`
      : 'an engine of queues did not learn which messages are handled'
  queueLog().warn({ running, queues }, `${what} after ${Math.round(limit)} ms; ${fateOf(running, inMemory)}`)
  for (const one of all) one.abandon()
}

/** What happens to messages when closing no longer waits for their handlers. */
function fateOf(running: number, inMemory: number): string {
  if (inMemory === 0) return 'the messages will be delivered again'
  if (inMemory < running) return `the messages will be delivered again, but not the ${inMemory} of queues in memory`
  return 'the messages will not be delivered again: their queues are in memory'
}
