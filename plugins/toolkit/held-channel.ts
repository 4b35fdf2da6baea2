import { type Channel, channel } from 'node:diagnostics_channel'

const held = new Map<string, Channel>()

/**
 * A channel for subscribers that come and go. Node.js 20 forgets a channel that no one holds, and a moment later the one that has taken its name:
 * what has subscribed to that hears nothing of those that publish, and stays where it unsubscribes. Node.js 22 does not.
 */
export function heldChannel(name: string): Channel {
  let found = held.get(name)
  if (found === undefined) {
    found = channel(name)
    held.set(name, found)
  }
  return found
}
