import type { AsyncApiFragment, MessageDescription } from './types.ts'

export { describeMessages } from './document/describe.ts'
export type { AsyncApiOptions, MessageDescriptionOptions } from './options.ts'
export { asyncapi } from './plugin.ts'
export type * from './types.ts'

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
