// The names that `framework` has as well.
import type { AsyncApiFragment, MessageDescription } from './types.ts'

export type { AsyncApiOptions, MessageDescriptionOptions } from './options.ts'
export type {
  AsyncApiChannel,
  AsyncApiDocument,
  AsyncApiExchange,
  AsyncApiFragment,
  AsyncApiMessage,
  MessageDescription,
} from './types.ts'

declare module '../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The plugin's part of the description of messages. */
    readonly asyncapi?: AsyncApiFragment
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Describes the messages of the server. */
    asyncapi: MessageDescription
  }
}
