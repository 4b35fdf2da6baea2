import { defined } from '../../shared/values/json.ts'
import { bytesOf } from '../messages/payload.ts'
import type { MqttSettings } from '../options.ts'
import { packetProperties } from './packets.ts'

const forEver = 0xffff_ffff

const asBuffer = <T extends string | Uint8Array | undefined>(value: T) =>
  value instanceof Uint8Array ? Buffer.from(value) : (value as string | undefined)

/** The options for the package `mqtt`; its own type for them costs the type checker 30 000 instantiations. */
export interface ClientOptions {
  readonly [name: string]: unknown
}

export function clientOptions(settings: MqttSettings, version: 4 | 5): ClientOptions {
  const { address, clean, keepalive, connectTimeout, receiveMaximum, will } = settings
  const { ca, rejectUnauthorized, servername } = settings
  const { protocol, host, port, path, username } = address
  const sessionExpiryInterval = settings.sessionExpiryInterval ?? (clean ? undefined : forEver)
  const tls = {
    ca: ca === undefined ? undefined : [ca].flat().map(asBuffer),
    cert: asBuffer(settings.cert),
    key: asBuffer(settings.key),
    rejectUnauthorized,
    ...defined({ servername }),
  }
  return {
    ...{ protocol, host, port, path, username },
    password: asBuffer(address.password),
    protocolVersion: version,
    clientId: settings.clientId ?? `framework-${Math.random().toString(36).slice(2, 12)}`,
    clean,
    keepalive,
    connectTimeout,
    reconnectOnConnackError: true,
    // This service does both: its outbox is bounded, and a new subscription must report the broker's refusals.
    queueQoSZero: false,
    resubscribe: false,
    ...((protocol === 'mqtts' || protocol === 'wss') && tls),
    // The websocket library expects the TLS options separately.
    ...(protocol === 'wss' && { wsOptions: tls }),
    ...(version === 5 && { properties: { receiveMaximum, ...defined({ sessionExpiryInterval }) } }),
    ...(will !== undefined && {
      will: {
        topic: will.topic,
        payload: bytesOf(will.topic, will.message),
        qos: will.qos ?? 0,
        retain: will.retain ?? false,
        ...(version === 5 && {
          properties: { ...packetProperties(will), ...defined({ willDelayInterval: will.delay }) },
        }),
      },
    }),
  }
}
