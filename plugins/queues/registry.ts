import { isInTime } from '../../kernel/index.ts'
import { forgetConfigurationOfServers } from './config.ts'
import { closeEngines, queueLog } from './engines.ts'
import type { Subscription } from './subscription.ts'

/**
 * The subscribers of this process. They are declared anywhere, and run from a server or a script: a holder runs them, a
 * claim only keeps them waiting for it.
 */
const subscriptions = new Set<Subscription>()
const holders = new Set<object>()
const claims = new Set<object>()
/** Subscribers that were taken back while a handler ran: closing waits for those as well. */
const leaving = new Map<Subscription, Promise<void>>()

/**
 * Whether a subscriber may work now. One in memory works at once where no server is in charge: nobody else could ever
 * take its messages, so tests and scripts need nothing else.
 */
function mayWork(subscription: Subscription): boolean {
  return holders.size > 0 || (claims.size === 0 && subscription.queue.kind === 'memory')
}

/** Every subscriber that was declared and not taken back, in order. */
export const declaredSubscriptions = (): readonly Subscription[] => [...subscriptions]

export async function addSubscription(subscription: Subscription): Promise<void> {
  subscriptions.add(subscription)
  if (!mayWork(subscription)) return
  try {
    await subscription.start()
  } catch (error) {
    subscriptions.delete(subscription)
    throw error
  }
}

/** Takes back one subscriber; resolves when it gets no more. What it has in work goes on. */
export async function removeSubscription(subscription: Subscription): Promise<void> {
  if (!subscriptions.delete(subscription)) return
  const { quiet, ended } = subscription.stop()
  const left = ended.finally(() => leaving.delete(subscription))
  leaving.set(subscription, left)
  await quiet
}

/** Puts a server in charge: nothing works until it runs. */
export function claim(owner: object): void {
  claims.add(owner)
  if (holders.size === 0) for (const subscription of subscriptions) subscription.stop()
}

/** Starts every subscriber, and those that are declared later as they come. */
export async function run(owner: object): Promise<void> {
  if (holders.has(owner)) return
  holders.add(owner)
  try {
    await Promise.all([...subscriptions].map((subscription) => subscription.start()))
  } catch (error) {
    await release(owner, 0)
    throw error
  }
}

/** Lets the last holder take no more messages from now on; `release` waits for those that are in work. */
export function halt(owner: object): void {
  // Its claim stands, so that what is declared meanwhile waits.
  claims.add(owner)
  if (holders.delete(owner) && holders.size === 0) for (const subscription of subscriptions) subscription.stop()
}

/**
 * Lets the last holder end the subscribers, and the last owner of all the engines: after them, so that handlers can publish
 * to their end. Whether it was the last owner.
 */
export async function release(owner: object, limit: number): Promise<boolean> {
  holders.delete(owner)
  const giveUpAt = performance.now() + limit
  // Its claim stands to the end: nobody begins to work while it waits.
  claims.add(owner)
  try {
    if (holders.size === 0) await endAll(limit * 0.9)
  } finally {
    claims.delete(owner)
  }
  if (holders.size > 0 || claims.size > 0) return false
  // One that is away may take as long as it likes to close; nobody waits for that.
  await isInTime(closeEngines(), Math.max(giveUpAt - performance.now(), 100))
  forgetConfigurationOfServers()
  return true
}

async function endAll(limit: number): Promise<void> {
  const all = [...subscriptions, ...leaving.keys()]
  const ended = Promise.all([...all.map((subscription) => subscription.stop().ended), ...leaving.values()])
  if (await isInTime(ended, limit)) return
  const running = all.reduce((sum, one) => sum + one.running, 0)
  const inMemory = all.reduce((sum, one) => sum + (one.queue.kind === 'memory' ? one.running : 0), 0)
  const what = running > 0 ? `${running} handlers of queues still ran` : 'an engine of queues was not told what is done'
  queueLog().warn({ running }, `${what} after ${Math.round(limit)} ms; ${fateOf(running, inMemory)}`)
  for (const one of all) one.abandon()
}

/** What becomes of messages whose handlers closing no longer waits for. */
function fateOf(running: number, inMemory: number): string {
  if (inMemory === 0) return 'the messages come again'
  if (inMemory < running) return `the messages come again, but not the ${inMemory} of queues in memory`
  return 'the messages do not come again: their queues are in memory'
}
