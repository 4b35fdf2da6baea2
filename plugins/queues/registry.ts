import { isInTime } from '../../kernel/index.ts'
import { Declarations, type Runner } from '../shared/work/declarations.ts'
import { forgetConfigurationOfServers } from './config.ts'
import { reportLacking } from './decorator.ts'
import { closeEngines, queueLog } from './engines.ts'
import type { Subscription } from './subscription.ts'

/** The subscribers of this process. They may be declared anywhere, and are run by a server or a script. */
const declarations = new Declarations<Subscription, Holder>()
/** Subscribers that were removed while a handler ran: closing waits for them as well. */
const leaving = new Map<Subscription, Promise<void>>()

/** Every subscriber that was declared and not removed, in order. */
export const declaredSubscriptions = (): readonly Subscription[] => declarations.all

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

/** A server or a script that runs the subscribers. Calls that one of them leaves unfinished continue under the next. */
export class Holder implements Runner<Subscription> {
  takes(): boolean {
    return true
  }

  adopt(subscription: Subscription): Promise<void> {
    return subscription.start()
  }

  refused({ queue: { name } }: Subscription, error: unknown): void {
    queueLog().error({ err: error, queue: name }, `a subscriber of the queue "${name}" could not start`)
  }

  /** Makes this holder responsible: no subscriber is active until it or another holder runs. */
  claim(): void {
    declarations.expected.add(this)
    if (declarations.runners.length === 0) for (const subscription of declarations.all) subscription.stop()
  }

  /** Starts every subscriber, and later ones as they are declared. */
  async run(): Promise<void> {
    if (declarations.runners.includes(this)) return
    declarations.expected.add(this)
    reportLacking(queueLog())
    try {
      await declarations.open(this)
    } catch (error) {
      await this.release(0)
      throw error
    }
  }

  /** If this is the last holder, the subscribers take no more messages from now on; resolves when none is in progress. */
  async drain(): Promise<void> {
    declarations.leave(this)
    // Subscribers that are declared meanwhile wait.
    this.claim()
    if (declarations.runners.length === 0) await ended(subscriptions())
  }

  /**
   * Lets the last holder end the subscribers, and the last responsible one all the engines: afterwards, so that handlers can
   * publish until they end. Returns whether it was the last responsible one.
   */
  async release(limit: number): Promise<boolean> {
    const giveUpAt = performance.now() + limit
    const drained = this.drain()
    try {
      if (declarations.runners.length === 0) await endWithin(drained, limit * 0.9)
    } finally {
      declarations.expected.delete(this)
    }
    if (declarations.expected.size > 0) return false
    // An unavailable engine may take any time to close, which is not awaited.
    await isInTime(closeEngines(), Math.max(giveUpAt - performance.now(), 100))
    forgetConfigurationOfServers()
    return true
  }
}

const subscriptions = (): Subscription[] => [...declarations.all, ...leaving.keys()]

async function ended(all: readonly Subscription[]): Promise<void> {
  await Promise.all([...all.map((subscription) => subscription.stop().ended), ...leaving.values()])
}

async function endWithin(drained: Promise<void>, limit: number): Promise<void> {
  if (await isInTime(drained, limit)) return
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
