import type { PathParams } from '../../kernel/index.ts'
import type { Check, Mode } from '../shared/schema/check.ts'
import type { Keeping } from './buses/contract.ts'
import type { ChannelPattern } from './name.ts'

/** The client that asks to join: one websocket, or one stream of events. */
export interface ChannelClient<Data = unknown> {
  /** The id of the websocket, or a random id for a stream. */
  readonly id: string
  /** What the route's handler `data` returned for the request of this client. */
  readonly data: Data
  /** The address of the client: `req.ip` of the request that opened the connection. */
  readonly ip: string
  /** Whether the client is connected over a websocket or server-sent events. */
  readonly transport: 'websocket' | 'events'
}

/** The parameters of a channel's name, decoded. */
export type ChannelParams<Name extends string> = string extends Name
  ? { readonly [name: string]: string }
  : PathParams<`/${Name}`>

/** The messages that a channel keeps for clients that reconnect. */
export interface ChannelHistory {
  /** Number of messages kept. Default 100, 0 for none. */
  messages?: number
  /** Bytes of the kept messages together, as JSON; the oldest are forgotten first. Default `'1mb'`. */
  bytes?: number | string
  /** Milliseconds for which a message is kept. Default 300000, five minutes. */
  ms?: number
}

/** A call of a channel's rule. */
export interface ChannelRuleCall {
  /** Aborts when the rule has taken longer than the option `timeout` of the plugin; the client is then refused. */
  readonly signal: AbortSignal
}

/** The options of a channel. `Data` is the type of `client.data`, the data kept from a client's request. */
export interface ChannelOptions<Name extends string, Payload, Data = unknown> {
  /**
   * Decides whether a client may join. Only `true` lets it in: an error, a rejection, any other value or a timeout is a refusal. Called
   * for each join, and again when messages may have been missed. An `HttpError` with a status below 500 is a refusal
   * whose code and message the client receives.
   */
  join(client: ChannelClient<Data>, params: ChannelParams<Name>, call: ChannelRuleCall): boolean | Promise<boolean>
  /** Decides whether a client may publish its message. Default: clients may not publish. */
  publish?(
    client: ChannelClient<Data>,
    params: ChannelParams<Name>,
    payload: Payload,
    call: ChannelRuleCall,
  ): boolean | Promise<boolean>
  /** Returns the user of the client, for messages to one user and for `remove`. */
  user?(client: ChannelClient<Data>): string | undefined
  /** Returns the data of a client that others in the channel see. Default: none, and presence is off. */
  presence?(client: ChannelClient<Data>, params: ChannelParams<Name>, call: ChannelRuleCall): unknown
  /**
   * Returns the state that a client begins with, as `state` of `channel:joined`. Called when the messages of the channel reach the client, so
   * that none is missing between the two; not for a client that reconnects and receives what it has missed. An error is a refusal.
   */
  state?(client: ChannelClient<Data>, params: ChannelParams<Name>, call: ChannelRuleCall): unknown
  /**
   * Called once when a client that was in the channel is no longer: it has left, was removed, or its connection has ended. The server waits for
   * it when it closes; an error is logged.
   */
  onLeave?(client: ChannelClient<Data>, params: ChannelParams<Name>, call: ChannelRuleCall): unknown
  /** The messages kept for clients that reconnect. `false`: none. Default 100 messages, 1 MB of the last five minutes. */
  history?: ChannelHistory | false
}

/** A channel, as the code that lets clients in sees it. */
export interface DeclaredChannel {
  readonly name: string
  readonly pattern: ChannelPattern
  readonly rules: ChannelOptions<string, unknown>
  readonly keeping: Keeping
  check(mode: Mode): Check
  /** The payload as JSON; a client's payload as the schema returns it. */
  bodyOf(payload: unknown, mode: Mode, fail: (why: string) => Error): Promise<string>
}
