import { type Channel, channel } from 'node:diagnostics_channel'

const held = new Map<string, Channel>()

/**
 * A channel for subscribers that come and go. Node.js 20 forgets a channel that no one holds, and shortly afterwards the channel that has
 * taken its name: its subscribers then receive nothing that is published, and cannot be unsubscribed. Node.js 22 does not do this.
 */
export function heldChannel(name: string): Channel {
  let found = held.get(name)
  if (found === undefined) {
    found = channel(name)
    held.set(name, found)
  }
  return found
}
