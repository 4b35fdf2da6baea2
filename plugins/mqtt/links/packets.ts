import type { IPublishPacket } from 'mqtt'
import { defined } from '../../shared/values/json.ts'
import { type MqttPublishOptions, type MqttQos, needsVersion5 } from '../messages/message-options.ts'
import type { Incoming, Outgoing } from './contract.ts'

/** The options with the carrier among their user properties; the application's own property of the same name takes precedence. */
export const withCarrier = ({ options, carrier }: Outgoing): MqttPublishOptions =>
  carrier === undefined ? options : { ...options, userProperties: { ...carrier, ...options.userProperties } }

/** The properties of MQTT 5 for the options; `undefined` for none. */
export function packetProperties(options: MqttPublishOptions): IPublishPacket['properties'] {
  if (needsVersion5(options) === undefined) return undefined
  const { qos: _, retain: __, correlationData, ...rest } = options
  const bytes = correlationData && Buffer.from(correlationData)
  return defined({ ...rest, correlationData: bytes }) as IPublishPacket['properties']
}

/** The details of a packet for a handler. */
export function detailsOf(
  packet: Pick<IPublishPacket, 'topic' | 'retain' | 'dup'> & { readonly properties?: MqttPublishOptions | undefined },
  qos: MqttQos,
): Incoming['details'] {
  const { topic, retain, dup: duplicate, properties = {} } = packet
  const { contentType, responseTopic, correlationData } = properties
  const userProperties = Object.assign(Object.create(null), properties.userProperties)
  return { topic, qos, retain, duplicate, userProperties, contentType, responseTopic, correlationData }
}
