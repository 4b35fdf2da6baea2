import type { ChannelClient } from './channel.ts'
import type { Frame } from './frames.ts'
import type { Member } from './room.ts'

/** One client with the channels that it is in. */
export interface JoinedClient {
  readonly client: ChannelClient
  /** By the name of the channel; a member that is still asked about counts. */
  readonly members: Map<string, Member>
  readonly isOpen: boolean
  send(name: string, frame: Frame): void
  /** It is no longer in the channel, for another reason than its own wish. */
  dropped(name: string): void
}
