import type { Carrier } from '../../shared/work/carrier.ts'
import type { MqttPublishOptions, MqttQos } from '../messages/message-options.ts'
import type { MqttDetails } from '../types.ts'

/** A message on its way to the broker. */
export interface Outgoing {
  readonly topic: string
  readonly payload: Buffer
  readonly options: MqttPublishOptions
  /** Sent with the message as user properties, if the broker supports them. */
  readonly carrier?: Readonly<Carrier> | undefined
}

/** A message that the broker has sent. */
export interface Incoming {
  readonly payload: Uint8Array
  readonly details: Omit<MqttDetails, 'signal'>
  /** The numbers, as passed to `subscribe`, of the subscriptions it is for; empty if the broker does not send them. */
  readonly subscriptions: readonly number[]
  /** Called when every handler has finished: the broker may forget the message. */
  handled(): void
}

/** The events of a link. */
export interface LinkEvents {
  /** The broker is connected; `resumed`: it kept the subscriptions of the last connection. */
  up(resumed: boolean): void
  down(error: Error): void
  message(message: Incoming): void
}

/** The link was lost before the broker responded. */
export class LinkLost extends Error {}

/** The timeout of a publication. Not an `AbortSignal`: creating one took 3 of the 29 µs of a message there and back. */
export interface Patience {
  isOver: boolean
  /** Called when the time is over. */
  whenOver: (() => void) | undefined
}

/** A connection to a broker; reconnects when it is lost. */
export interface Link {
  /** How many messages of QoS 1 and 2 may be unacknowledged; known once the broker is connected. */
  readonly window: number
  /**
   * Resolves when the broker is connected for the first time; with `isPatient`, keeps trying until the link is closed.
   *
   * @throws (as a rejection) MqttUnavailableError
   */
  open(isPatient: boolean): Promise<void>
  /**
   * Resolves when the broker has the message: acknowledged for QoS 1 and 2, written for QoS 0.
   *
   * @throws LinkLost when the message must be sent again; an error for a message that the broker refuses. Both as a rejection too.
   */
  publish(message: Outgoing, patience: Patience): Promise<unknown>
  /** @throws (as a rejection) LinkLost, MqttSubscribeError */
  subscribe(filter: string, qos: MqttQos, subscription: number): Promise<void>
  unsubscribe(filter: string): Promise<void>
  /** Resolves when the broker has responded; rejects if the connection is lost. */
  ping(): Promise<void>
  /** Disconnects; cuts the connection if that takes longer than a second. */
  close(): Promise<void>
}
