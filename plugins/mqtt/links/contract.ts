import type { Carrier } from '../../toolkit/carrier.ts'
import type { MqttPublishOptions, MqttQos } from '../messages/message-options.ts'
import type { MqttDetails } from '../types.ts'

/** A message on its way to the broker. */
export interface Outgoing {
  readonly topic: string
  readonly payload: Buffer
  readonly options: MqttPublishOptions
  /** Is sent with it as user properties, where the broker supports them. */
  readonly carrier?: Readonly<Carrier> | undefined
}

/** A message that the broker has sent. */
export interface Incoming {
  readonly payload: Uint8Array
  readonly details: MqttDetails
  /** The numbers, given with `subscribe`, of its subscriptions; empty where the broker does not send them. */
  readonly subscriptions: readonly number[]
  /** Every handler has finished: the broker may forget the message. */
  handled(): void
}

/** The events of a link. */
export interface LinkEvents {
  /** The broker is connected; `resumed`: it has kept the subscriptions of the last connection. */
  up(resumed: boolean): void
  down(error: Error): void
  message(message: Incoming): void
}

/** The capabilities of the broker, known once it is connected. */
export interface LinkLimits {
  /** How many messages of QoS 1 and 2 may be unacknowledged. */
  readonly window: number
  /** Whether it sends the subscriptions that a message is for. */
  readonly namesSubscriptions: boolean
}

/** The link was lost before the broker answered. */
export class LinkLost extends Error {}

/** The timeout of a publication. Not an `AbortSignal`: creating one took 3 of the 29 µs of a message there and back. */
export interface Patience {
  isOver: boolean
  /** Called when it is. */
  whenOver: (() => void) | undefined
}

/** A connection to a broker, which reconnects when it is lost. */
export interface Link {
  readonly limits: LinkLimits
  /**
   * Resolves when the broker is connected for the first time; with `isPatient` it tries until it is closed.
   *
   * @throws (as a rejection) MqttUnavailableError
   */
  open(isPatient: boolean): Promise<void>
  /**
   * Resolves when the broker has the message: QoS 1 and 2 acknowledged, QoS 0 written.
   *
   * @throws (as a rejection) LinkLost when it is to be sent again; an error for a message that the broker refuses.
   */
  publish(message: Outgoing, patience: Patience): Promise<void>
  /** @throws (as a rejection) LinkLost, MqttSubscribeError */
  subscribe(filter: string, qos: MqttQos, subscription: number): Promise<void>
  unsubscribe(filter: string): Promise<void>
  /** Disconnects, and cuts the connection when that takes longer than a second. */
  close(): Promise<void>
}

/** Makes a link. */
export type OpenLink = (events: LinkEvents) => Promise<Link>
