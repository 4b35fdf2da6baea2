import type { ChannelClient } from './channel.ts'
import type { Frame } from './frames.ts'
import type { Member } from './room.ts'

/** One client with the channels that it is in. */
export interface JoinedClient {
  readonly client: ChannelClient
  /** By the name of the channel; includes a member for which `join` is still deciding. */
  readonly members: Map<string, Member>
  /** Whether it can be in channels: until it has left, and its last message is handled. */
  readonly isHere: boolean
  send(name: string, frame: Frame): void
  /** Called when the client is no longer in the channel for a reason other than its own request. */
  dropped(name: string): void
}
