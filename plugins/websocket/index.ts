import type { BodilessOptions, CheckedOptions, OptionsExtension, RouteOptions } from '../../kernel/index.ts'
import type { WebsocketRouteOptions } from './options.ts'
import type { Sockets } from './sockets.ts'
import type { AnyHandlers, HandlersOf, MessageSchemas } from './types.ts'

export type { SlowReaders, WebsocketLimits, WebsocketOptions, WebsocketRouteOptions } from './options.ts'
export { websocket } from './plugin.ts'
export type { Socket } from './socket.ts'
export type { Message, MessageCall, MessageSchemas, ServerSocket, WebsocketHandlers } from './types.ts'
export type { WebsocketMessageTrace, WebsocketOpenTrace } from './work.ts'

interface RefusedOptions extends BodilessOptions {
  websocket: 'the handlers are the last argument'
}

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Opens a websocket with these handlers if the client asks for one; other requests go on to the handler of the route. */
    websocket?: AnyHandlers
    /** Limits and sub-protocols of the websocket of this route. */
    socket?: WebsocketRouteOptions
    /** Schemas of the messages that clients send, by type: `{ type, data }`. */
    incoming?: MessageSchemas
    /** Schemas of the messages that the server sends, by type. */
    outgoing?: MessageSchemas
  }
}

declare module '../../kernel/routing/verbs.ts' {
  interface UpgradeVerb<Extension, Prefix extends string> {
    <const Path extends string, Data = undefined>(
      path: Path,
      handlers: HandlersOf<`${Prefix}${NoInfer<Path>}`, Extension, {}, Data>,
    ): void
    <const Path extends string, const Options extends RouteOptions, Data = undefined>(
      path: Path,
      options: CheckedOptions<Options, RefusedOptions>,
      handlers: HandlersOf<
        `${Prefix}${NoInfer<Path>}`,
        Extension & OptionsExtension<NoInfer<Options>>,
        NoInfer<Options>,
        Data
      >,
    ): void
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** The open websockets. */
    websockets: Sockets
  }
}
