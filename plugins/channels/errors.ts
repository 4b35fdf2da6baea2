import { defineErrors } from '../../kernel/index.ts'

export const { ChannelNameError, ChannelSchemaError, ChannelRouteError } = defineErrors({
  ChannelNameError: (name: string, why: string) => `the channel ${JSON.stringify(name)}: ${why}`,
  ChannelSchemaError: (name: string, why: string) => `the schema of the channel "${name}" cannot be used: ${why}`,
  ChannelRouteError: (why: string) => why,
})

export const { ChannelUnavailableError, ChannelsNotRunningError } = defineErrors({
  ChannelUnavailableError: [503, () => 'channels are not available now: their Redis does not respond'],
  ChannelsNotRunningError: [
    503,
    (what: string) =>
      `${what} needs a booted server with the plugin channels in this process: new Server({ plugins: { channels: true } })`,
  ],
})

export const { ChannelRefusedError, UnknownChannelError, TooManyChannelsError, NotJoinedError } = defineErrors({
  ChannelRefusedError: [403, (name: string) => `the client may not join the channel "${name}"`],
  UnknownChannelError: [
    404,
    (name: string) => `the route has no channel for the name ${JSON.stringify(name)}; its option "channels" lists them`,
  ],
  TooManyChannelsError: [429, (most: number) => `the client is in ${most} channels, the maximum`],
  NotJoinedError: [409, (name: string) => `the client is not in the channel "${name}"`],
})

export const { ChannelPublishRefusedError, ChannelPayloadError, InvalidPayloadError } = defineErrors({
  ChannelPublishRefusedError: [
    403,
    (name: string, isRefused: boolean) =>
      isRefused
        ? `the rule "publish" of the channel "${name}" refuses this message`
        : `the channel "${name}" takes no messages from clients: it has no rule "publish"`,
  ],
  // For messages published by the server's code; clients do not receive this error.
  ChannelPayloadError: (name: string, why: string) => `the payload for the channel "${name}" ${why}`,
  InvalidPayloadError: [422, (why: string) => `the payload ${why}`],
})
