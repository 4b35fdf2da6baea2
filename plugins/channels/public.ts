// The names that `framework` has as well.
import type { AnyChannel } from './channel.ts'
import type { ChannelsService } from './service.ts'

export type { PresentClient } from './buses/contract.ts'
export * from './channel.ts'
export type { ChannelClient, ChannelHistory, ChannelOptions, ChannelParams, ChannelRuleCall } from './declared.ts'
export type { Membership } from './hub.ts'
export type { ChannelsOptions, ChannelsRedisOptions } from './options.ts'

// Augments the files that declare the interfaces: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** The channels that clients of this websocket may join; the same path also offers them as server-sent events. */
    channels?: readonly AnyChannel[]
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The channels of this server. */
    channels: ChannelsService
  }
}
