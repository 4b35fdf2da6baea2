import type { EventStreams } from './events.ts'
import type { Hub } from './hub.ts'
import type { ChannelCounts } from './rooms.ts'

/**
 * The service of a server's channels; `services.channels`.
 *
 * @example
 * const { members, published } = server.services.get('channels').counts
 * console.log({ members, published })
 */
export class ChannelsService {
  /** Set at boot. @internal */
  parts: { readonly hub: Hub; readonly streams: EventStreams } | undefined

  /** Rejects unless the store responds. @internal */
  async check(): Promise<void> {
    await this.parts?.hub.bus.check?.()
  }

  /** Counters of this instance alone; `streams` are the open streams of server-sent events. */
  get counts(): Readonly<ChannelCounts> & { readonly streams: number } {
    const none = { channels: 0, members: 0, published: 0, refused: 0, gaps: 0 }
    return { ...(this.parts?.hub.counts ?? none), streams: this.parts?.streams.size ?? 0 }
  }
}
