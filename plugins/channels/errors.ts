import { defineErrors } from '../../kernel/index.ts'

export const {
  ChannelNameError,
  ChannelRefusedError,
  UnknownChannelError,
  TooManyChannelsError,
  ChannelPublishRefusedError,
  NotJoinedError,
  ChannelSchemaError,
  ChannelPayloadError,
  InvalidPayloadError,
  ChannelUnavailableError,
  ChannelsNotRunningError,
  ChannelRouteError,
} = defineErrors({
  ChannelNameError: (name: string, why: string) => `the channel ${JSON.stringify(name)}: ${why}`,
  ChannelRefusedError: [403, (name: string) => `the client may not join the channel "${name}"`],
  UnknownChannelError: [
    404,
    (name: string) => `the route has no channel for the name ${JSON.stringify(name)}; its option "channels" lists them`,
  ],
  TooManyChannelsError: [429, (most: number) => `the client is in ${most} channels, the maximum`],
  ChannelPublishRefusedError: [
    403,
    (name: string, isRefused: boolean) =>
      isRefused
        ? `the rule "publish" of the channel "${name}" refuses this message`
        : `the channel "${name}" takes no messages from clients: it has no rule "publish"`,
  ],
  NotJoinedError: [409, (name: string) => `the client is not in the channel "${name}"`],
  ChannelSchemaError: (name: string, why: string) => `the schema of the channel "${name}" cannot be used: ${why}`,
  // For messages published by the server's code; clients do not receive this error.
  ChannelPayloadError: (name: string, why: string) => `the payload for the channel "${name}" ${why}`,
  InvalidPayloadError: [422, (why: string) => `the payload ${why}`],
  ChannelUnavailableError: [503, () => 'channels are not available now: their Redis does not respond'],
  ChannelsNotRunningError: [
    503,
    (what: string) =>
      `${what} needs a booted server with the plugin channels in this process: new Server({ plugins: { channels: true } })`,
  ],
  ChannelRouteError: (why: string) => why,
})
