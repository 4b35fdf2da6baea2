import { type Channel, channel } from 'node:diagnostics_channel'
import { madeIn } from '../values/memoize.ts'

const held = new Map<string, Channel>()

/**
 * A channel for subscribers that come and go. Node.js 20 forgets a channel that no one holds, and shortly afterwards the channel that has
 * taken its name: its subscribers then receive nothing that is published, and cannot be unsubscribed. Node.js 22 does not do this.
 */
export const heldChannel = (name: string): Channel => madeIn(held, name, channel)

/** One function that does all of these, which each end something. */
export const together = (ends: readonly (() => void)[]) => (): void => {
  for (const end of ends) end()
}

/**
 * Subscribes to a channel; returns the function that ends this. A subscriber that throws would end the process, and descriptions of work are code
 * of others: the first failure is a warning.
 */
export function followChannel<Event>(name: string, heard: (event: Event) => void): () => void {
  const followed = heldChannel(name)
  let hasFailed = false
  const listener = (event: unknown) => {
    try {
      heard(event as Event)
    } catch (error) {
      if (!hasFailed) process.emitWarning(error instanceof Error ? error : `a subscriber of ${name} has thrown`)
      hasFailed = true
    }
  }
  followed.subscribe(listener)
  return () => void followed.unsubscribe(listener)
}
