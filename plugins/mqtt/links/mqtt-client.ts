import type { IPublishPacket } from 'mqtt'
import type { MqttQos } from '../messages/message-options.ts'
import type { Wire } from './acks.ts'

/** A packet as the client emits it. */
export type Packet =
  | (Omit<IPublishPacket, 'cmd'> & { readonly cmd: 'publish' })
  | { readonly cmd: 'connack'; readonly sessionPresent: boolean }
  | { readonly cmd: 'pubrel'; readonly messageId: number }

/** The announced limits of a broker of MQTT 5. */
export interface Announced {
  readonly receiveMaximum?: number
  readonly maximumPacketSize?: number
  readonly maximumQoS?: number
  readonly retainAvailable?: boolean
  readonly subscriptionIdentifiersAvailable?: boolean
}

interface Events {
  connect: (connack: { readonly sessionPresent: boolean }) => void
  reconnect: () => void
  close: () => void
  error: (error: Error) => void
  disconnect: (packet: { readonly reasonCode?: number }) => void
  packetreceive: (packet: Packet) => void
}

/** The used part of a client of the package `mqtt`. */
export interface MqttClient {
  readonly options: { reconnectPeriod?: number }
  readonly stream: Wire & { destroy(): unknown; setNoDelay?(noDelay: boolean): unknown }
  readonly serverProperties: Announced | undefined
  on<Name extends keyof Events>(event: Name, listener: Events[Name]): unknown
  once<Name extends keyof Events>(event: Name, listener: Events[Name]): unknown
  publish(topic: string, payload: Buffer, options: object, done: (error?: Error | null) => void): unknown
  getLastMessageId(): number
  removeOutgoingMessage(id: number): unknown
  subscribeAsync(filter: string, options: { readonly qos: MqttQos; readonly properties?: object }): Promise<unknown>
  unsubscribeAsync(filter: string): Promise<unknown>
  endAsync(force?: boolean): Promise<unknown>
  end(force: boolean): unknown
}

/** The used part of the package. */
export interface MqttPackage {
  connect(options: object): MqttClient
  readonly ReasonCodes: { readonly [code: number]: string }
}
