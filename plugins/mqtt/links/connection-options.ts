import type { OptionPlace } from '../../../kernel/index.ts'
import { option } from '../../shared/options/index.ts'
import { type MqttWill, messageMembers, seconds, topicName } from '../messages/message-options.ts'
import { bytesOf } from '../messages/payload.ts'
import { type Address, addressOf, addressTakes, readUrl } from './address.ts'

/** The address of a broker, and the settings of a connection. */
export interface ConnectionOptions {
  /** `mqtt://`, `mqtts://`, `ws://` or `wss://`, instead of `protocol`, `host`, `port`, `path`, `username` and `password`. */
  url?: string
  /** How the broker is reached: over TCP or websockets; the `s` stands for TLS. Default `'mqtt'`. */
  protocol?: 'mqtt' | 'mqtts' | 'ws' | 'wss'
  /** The name or the address of the broker. Default `MQTT_HOST`, else `localhost`. */
  host?: string
  /** The port of the broker. Default `MQTT_PORT`, else 1883; for `mqtts` 8883, for `ws` 80, for `wss` 443. */
  port?: number
  /** The path of websockets. Default `/mqtt`. */
  path?: string
  /** The version of MQTT: 5, or 4 for 3.1.1. Default: 5, or 4 if the broker refuses 5. */
  protocolVersion?: 4 | 5
  /** The name of this client, unique at the broker: a second client of the same name disconnects the first. Default: a random one. */
  clientId?: string
  /** The name by which the broker knows this client. */
  username?: string
  /** The password of `username`; without TLS it is sent in the clear. */
  password?: string | Uint8Array
  /** Seconds without a packet after which the connection counts as lost; that may take half as long again. Default 15. */
  keepalive?: number
  /** `false`: the broker keeps the subscriptions of this `clientId` and their messages while it is disconnected. Default true. */
  clean?: boolean
  /** Seconds for which the broker keeps them, in MQTT 5. Default, if `clean` is false: for ever. */
  sessionExpiryInterval?: number
  /** The message that the broker publishes when this client vanishes. Default none. */
  will?: MqttWill
  /** CA certificates for verifying the broker's, as PEM; they replace the system's own. */
  ca?: string | Uint8Array | readonly (string | Uint8Array)[]
  /** The client's own certificate, as PEM. */
  cert?: string | Uint8Array
  /** The key of the client's certificate, as PEM. */
  key?: string | Uint8Array
  /** `false`: any certificate is accepted. Default true. */
  rejectUnauthorized?: boolean
  /** The name that the certificate must have. Default: the host. */
  servername?: string
  /** Milliseconds that one attempt to connect may take. Default 5000. */
  connectTimeout?: number
  /** Milliseconds before the first attempt to reconnect; doubled for each further one, minus a random part. Default 500. */
  reconnectDelay?: number
  /** The maximum of that delay. Default 10000. */
  maxReconnectDelay?: number
  /** How many messages of QoS 1 and 2 the broker may send before the first is handled, in MQTT 5. Default 1000. */
  receiveMaximum?: number
}

const withoutNul = option.name(/^[^\0]+$/, 'text')
const pem = {
  takes: 'PEM as text or bytes: "-----BEGIN …"',
  // Any other value, such as the name of a file, would be silently ignored.
  isIt: (given: unknown) =>
    (typeof given === 'string' || given instanceof Uint8Array) && Buffer.from(given).includes('-----BEGIN '),
}
const onePem = option.value<string | Uint8Array>(pem.takes, pem.isIt).secret()
export const milliseconds = option.int({ min: 1, max: 2_147_483_647 }).says('milliseconds from 1 to 2147483647')

const will = option
  .shape({
    topic: topicName.required(),
    message: option
      .value<unknown>(
        'the payload that the broker publishes: text, bytes, or a JSON value',
        (given) => given !== undefined,
      )
      .required()
      .secret(),
    delay: seconds,
    ...messageMembers,
  })
  .into((given) => {
    bytesOf(given.topic, given.message)
    return given
  })
  .typed<MqttWill>()

export const connectionMembers = {
  url: option.custom<string, Partial<Address>>(addressTakes, readUrl).secret(),
  protocol: option.oneOf('mqtt', 'mqtts', 'ws', 'wss'),
  host: withoutNul,
  port: option.int({ min: 1, max: 65_535 }).says('a number from 1 to 65535'),
  path: option.name(/^\//, 'a path that begins with "/"'),
  protocolVersion: option.oneOf(4, 5),
  clientId: option.value<string>(
    'text',
    (given) => withoutNul.parts.fits(given) && Buffer.byteLength(given as string) <= 65_535,
  ),
  // Some brokers expect a token instead.
  username: option.text(/^[^\0]+$/, 'text').secret(),
  password: option
    .value<string | Uint8Array>('text or bytes', (given) => typeof given === 'string' || given instanceof Uint8Array)
    .secret(),
  keepalive: option.int({ min: 1, max: 65_535, unit: 'seconds' }).default(15),
  clean: option.flag().default(true),
  sessionExpiryInterval: seconds,
  will: will.optional(),
  ca: option
    .value<NonNullable<ConnectionOptions['ca']>>(
      'PEM as text or bytes ("-----BEGIN …"), or a list of them',
      (given) => {
        const all = [given].flat()
        return all.length > 0 && all.every(pem.isIt)
      },
    )
    .secret(),
  cert: onePem,
  key: onePem,
  rejectUnauthorized: option.flag().default(true),
  servername: withoutNul,
  connectTimeout: milliseconds.default(5_000),
  reconnectDelay: milliseconds.default(500),
  maxReconnectDelay: milliseconds.default(10_000),
  receiveMaximum: option.int({ min: 1, max: 65_535, unit: 'messages' }).default(1_000),
}

export type ConnectionSettings = option.ShapeValue<typeof connectionMembers>

/** Reports conflicting options, and adds the broker's address. */
export function withAddress<Given extends ConnectionSettings>(
  given: Given,
  place: OptionPlace,
): Given & { address: Address } {
  if (!given.clean && given.clientId === undefined) {
    place
      .in('clientId')
      .wrong(undefined, 'a client id together with clean: false, which names the session at the broker')
  }
  if ((given.cert === undefined) !== (given.key === undefined)) {
    const [there, missing] = given.cert === undefined ? (['key', 'cert'] as const) : (['cert', 'key'] as const)
    place.in(missing).wrong(undefined, `the one that matches ${place.in(there).path}`)
  }
  return { ...given, address: addressOf(given, place) }
}
