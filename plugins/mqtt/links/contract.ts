import type { Carrier } from '../../toolkit/carrier.ts'
import type { MqttPublishOptions, MqttQos } from '../messages/message-options.ts'
import type { MqttDetails } from '../types.ts'

/** A message on its way to the broker. */
export interface Outgoing {
  readonly topic: string
  readonly payload: Buffer
  readonly options: MqttPublishOptions
  /** Goes with it as user properties, where the broker takes some. */
  readonly carrier?: Readonly<Carrier> | undefined
}

/** A message that the broker has sent. */
export interface Incoming {
  readonly payload: Uint8Array
  readonly details: MqttDetails
  /** By the numbers given with `subscribe`, which subscriptions it is for; empty where the broker does not say. */
  readonly subscriptions: readonly number[]
  /** Every handler has done its part: the broker may forget the message. */
  handled(): void
}

/** What a link tells. */
export interface LinkEvents {
  /** The broker is there; `resumed`: it has kept the subscriptions of last time. */
  up(resumed: boolean): void
  down(error: Error): void
  message(message: Incoming): void
}

/** What the broker can do, known once it is there. */
export interface LinkLimits {
  /** How many messages of QoS 1 and 2 may be under way to it. */
  readonly window: number
  /** Whether it tells which subscriptions a message is for. */
  readonly tellsSubscriptions: boolean
}

/** The link was lost before the broker has said yes or no. */
export class LinkLost extends Error {}

/** How long a publisher waits. Not an `AbortSignal`: making one took 3 of the 29 µs of a message there and back. */
export interface Patience {
  isOver: boolean
  /** Called when it is. */
  whenOver: (() => void) | undefined
}

/** A connection to a broker, which makes itself anew when it is lost. */
export interface Link {
  readonly limits: LinkLimits
  /**
   * Resolves when the broker is there for the first time; with `isPatient` it does not give up, until it is closed.
   *
   * @throws (as a rejection) MqttUnavailableError
   */
  open(isPatient: boolean): Promise<void>
  /**
   * Resolves when the broker has the message: QoS 1 and 2 acknowledged, QoS 0 written.
   *
   * @throws (as a rejection) LinkLost when it is to be sent again; an error for what the broker refuses.
   */
  publish(message: Outgoing, patience: Patience): Promise<void>
  /** @throws (as a rejection) LinkLost, MqttSubscribeError */
  subscribe(filter: string, qos: MqttQos, subscription: number): Promise<void>
  unsubscribe(filter: string): Promise<void>
  /** Says good-bye, and cuts the connection when that takes longer than a second. */
  close(): Promise<void>
}

/** Makes a link. */
export type OpenLink = (events: LinkEvents) => Promise<Link>
