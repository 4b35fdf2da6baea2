import { bytesOf } from '../messages/payload.ts'
import type { MqttSettings } from '../options.ts'
import { packetProperties } from './packets.ts'

const forEver = 0xffff_ffff

const asBuffer = <T extends string | Uint8Array | undefined>(value: T) =>
  value instanceof Uint8Array ? Buffer.from(value) : (value as string | undefined)

/** The options for the package `mqtt`; its own type for them costs the type checker 30 000 instantiations. */
export interface ClientOptions {
  reconnectPeriod?: number
  readonly [name: string]: unknown
}

export function clientOptions(settings: MqttSettings, version: 4 | 5): ClientOptions {
  const { address, clean, keepalive, connectTimeout, receiveMaximum, sessionExpiryInterval } = settings
  const { ca, cert, key, rejectUnauthorized, servername, will } = settings
  const expiry = sessionExpiryInterval ?? (clean ? undefined : forEver)
  const isTls = address.protocol === 'mqtts' || address.protocol === 'wss'
  const tls = {
    ca: ca === undefined ? undefined : [ca].flat().map(asBuffer),
    cert: asBuffer(cert),
    key: asBuffer(key),
    rejectUnauthorized,
    ...(servername !== undefined && { servername }),
  }
  return {
    protocol: address.protocol,
    host: address.host,
    port: address.port,
    path: address.path,
    username: address.username,
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
    ...(isTls && tls),
    // The websocket library expects the TLS options separately.
    ...(address.protocol === 'wss' && { wsOptions: tls }),
    ...(version === 5 && {
      properties: { receiveMaximum, ...(expiry !== undefined && { sessionExpiryInterval: expiry }) },
    }),
    ...(will !== undefined && {
      will: {
        topic: will.topic,
        payload: bytesOf(will.topic, will.message),
        qos: will.qos ?? 0,
        retain: will.retain ?? false,
        ...(version === 5 && {
          properties: { ...packetProperties(will), ...(will.delay !== undefined && { willDelayInterval: will.delay }) },
        }),
      },
    }),
  }
}
