import type { IPublishPacket } from 'mqtt'
import { defined } from '../../shared/values/json.ts'
import type { MqttPublishOptions, MqttQos } from '../messages/message-options.ts'
import type { Incoming, Outgoing } from './contract.ts'

/** The options with the carrier among their user properties; the application's own property of the same name takes precedence. */
export const withCarrier = ({ options, carrier }: Outgoing): MqttPublishOptions =>
  carrier === undefined ? options : { ...options, userProperties: { ...carrier, ...options.userProperties } }

/** The properties of MQTT 5 for the options; `undefined` for none. */
export function packetProperties(options: MqttPublishOptions): IPublishPacket['properties'] {
  const { messageExpiryInterval, userProperties, contentType, responseTopic, correlationData } = options
  const properties = defined({
    messageExpiryInterval,
    userProperties: userProperties as Record<string, string | string[]> | undefined,
    contentType,
    responseTopic,
    correlationData: correlationData && Buffer.from(correlationData),
  })
  return Object.keys(properties).length === 0 ? undefined : properties
}

/** The details of a packet for a handler. */
export function detailsOf(
  packet: Pick<IPublishPacket, 'topic' | 'retain' | 'dup'> & { readonly properties?: MqttPublishOptions | undefined },
  qos: MqttQos,
): Incoming['details'] {
  const { userProperties, contentType, responseTopic, correlationData } = packet.properties ?? {}
  return {
    topic: packet.topic,
    qos,
    retain: packet.retain,
    duplicate: packet.dup,
    userProperties: Object.assign(Object.create(null), userProperties),
    contentType,
    responseTopic,
    correlationData,
  }
}
