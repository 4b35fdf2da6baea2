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
const leaving = new Set<Promise<void>>()

/**
 * Whether a subscriber may work now. One in memory works at once where no server is in charge: nobody else could ever
 * take its messages, so tests and scripts need nothing else.
 */
function mayWork(subscription: Subscription): boolean {
  return holders.size > 0 || (claims.size === 0 && subscription.queue.kind === 'memory')
}

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
  const left = ended.finally(() => leaving.delete(left))
  leaving.add(left)
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

/**
 * Lets the last owner end everything: subscribers first, engines at last, so that handlers can publish to their end.
 * Whether it was the last.
 */
export async function release(owner: object, limit: number): Promise<boolean> {
  holders.delete(owner)
  claims.delete(owner)
  if (holders.size > 0 || claims.size > 0) return false
  const all = [...subscriptions]
  const ended = Promise.all([...all.map((subscription) => subscription.stop().ended), ...leaving])
  if (!(await within(ended, limit))) {
    const running = all.reduce((sum, one) => sum + one.running, 0)
    queueLog().warn({ running }, `${running} handlers of queues still ran after ${limit} ms; their messages come again`)
  }
  await closeEngines()
  return true
}

async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
