import { checkOptions, hidden, OptionError, quoted } from '../../kernel/index.ts'
import { checkPublishOptions, publishOptions } from './message-options.ts'
import { checkTopic } from './names.ts'
import type { MqttWill } from './options.ts'
import { bytesOf } from './payload.ts'

/** How a broker is reached. */
export interface ConnectionOptions {
  /** `mqtt://`, `mqtts://`, `ws://` or `wss://`, in place of `protocol`, `host`, `port`, `path`, `username` and `password`. */
  url?: string
  /** Default `'mqtt'`. */
  protocol?: 'mqtt' | 'mqtts' | 'ws' | 'wss'
  /** Default `MQTT_HOST`, else `localhost`. */
  host?: string
  /** Default `MQTT_PORT`, else 1883; of `mqtts` 8883, of `ws` 80, of `wss` 443. */
  port?: number
  /** Of websockets. Default `/mqtt`. */
  path?: string
  /** 5, or 4 for 3.1.1. Default: 5, and 4 where the broker refuses it. */
  protocolVersion?: 4 | 5
  /** Default: a random one. */
  clientId?: string
  username?: string
  password?: string | Uint8Array
  /** Seconds without a sign of life after which the connection counts as lost, half of them later. Default 15. */
  keepalive?: number
  /** `false`: the broker keeps the subscriptions of this `clientId`, and their messages, while it is away. Default true. */
  clean?: boolean
  /** Seconds for which it does, of MQTT 5. Default, where `clean` is false: for ever. */
  sessionExpiryInterval?: number
  will?: MqttWill
  /** Certificates that sign the broker's, as PEM; in place of those of the system. */
  ca?: string | Uint8Array | readonly (string | Uint8Array)[]
  /** The client's own certificate, as PEM. */
  cert?: string | Uint8Array
  /** Its key, as PEM. */
  key?: string | Uint8Array
  /** `false`: any certificate will do. Default true. */
  rejectUnauthorized?: boolean
  /** The name that the certificate must have. Default: the host. */
  servername?: string
  /** Milliseconds that one attempt to connect may take. Default 5000. */
  connectTimeout?: number
  /** Milliseconds before the first attempt to connect again; doubled from one to the next, each a bit earlier by chance. Default 500. */
  reconnectDelay?: number
  /** The most it becomes. Default 10000. */
  maxReconnectDelay?: number
  /** How many messages of QoS 1 and 2 the broker may send before the first is handled, of MQTT 5. Default 1000. */
  receiveMaximum?: number
}

type Check = readonly [isIt: (value: unknown) => boolean, expected: string]
const between = (least: number, most: number, unit: string): Check => [
  (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  `${unit} from ${least} to ${most}`,
]
const oneOf = (...values: readonly unknown[]): Check => [
  (value) => values.includes(value),
  values.map((value) => JSON.stringify(value)).join(', '),
]
const text: Check = [(value) => typeof value === 'string' && value !== '' && !value.includes('\0'), 'text']
const pem: Check = [
  // What is none would be left out without a word; the name of a file, for example.
  (value) => (typeof value === 'string' || value instanceof Uint8Array) && Buffer.from(value).includes('-----BEGIN '),
  'PEM as text or bytes: "-----BEGIN …"',
]
const ms = between(1, 2_147_483_647, 'milliseconds')
const seconds = between(0, 4_294_967_295, 'seconds')
const flag = oneOf(true, false)

const checks: { readonly [Name in keyof Required<ConnectionOptions>]: Check } = {
  url: [() => true, ''],
  protocol: oneOf('mqtt', 'mqtts', 'ws', 'wss'),
  host: text,
  port: between(1, 65_535, 'a number'),
  path: [(value) => typeof value === 'string' && value.startsWith('/'), 'a path that begins with "/"'],
  protocolVersion: oneOf(4, 5),
  clientId: [(value) => text[0](value) && Buffer.byteLength(value as string) <= 65_535, 'text'],
  username: text,
  password: [(value) => typeof value === 'string' || value instanceof Uint8Array, 'text or bytes'],
  keepalive: between(1, 65_535, 'seconds'),
  clean: flag,
  sessionExpiryInterval: seconds,
  will: [(value) => typeof value === 'object' && value !== null, '{ topic, message }'],
  ca: [
    (value) => (Array.isArray(value) ? value.every(pem[0]) : pem[0](value)),
    'PEM as text or bytes ("-----BEGIN …"), or a list of them',
  ],
  cert: pem,
  key: pem,
  rejectUnauthorized: flag,
  servername: text,
  connectTimeout: ms,
  reconnectDelay: ms,
  maxReconnectDelay: ms,
  receiveMaximum: between(1, 65_535, 'a number of messages'),
}

export const connectionOptions = Object.keys(checks) as (keyof ConnectionOptions)[]

const secrets = new Set<string>(['url', 'password', 'key', 'cert', 'ca'])

/** @throws OptionError naming the option. */
export function checkConnection(options: ConnectionOptions): ConnectionOptions {
  for (const [name, value] of Object.entries(options)) {
    const [isIt, expected] = checks[name as keyof ConnectionOptions]
    if (value === undefined || isIt(value)) continue
    throw OptionError(`mqtt.connect.${name}`, secrets.has(name) ? hidden(value) : value, expected)
  }
  if (options.clean === false && options.clientId === undefined) {
    throw OptionError(
      'mqtt.connect.clientId',
      undefined,
      'a name beside clean: false, by which the broker knows the session',
    )
  }
  if ((options.cert === undefined) !== (options.key === undefined)) {
    const [there, missing] = options.cert === undefined ? ['key', 'cert'] : ['cert', 'key']
    throw OptionError(`mqtt.connect.${missing}`, undefined, `the one that belongs to mqtt.connect.${there}`)
  }
  if (options.will !== undefined) checkWill(options.will)
  return options
}

function checkWill(will: MqttWill): void {
  const name = 'mqtt.connect.will'
  checkOptions(name, will, ['topic', 'message', 'delay', ...publishOptions])
  const { topic, message, delay, ...rest } = will
  if (topic === undefined) throw OptionError(`${name}.topic`, quoted(topic), 'the topic that the broker publishes to')
  if (message === undefined) {
    throw OptionError(`${name}.message`, message, 'what the broker publishes: text, bytes, or what JSON has a form for')
  }
  if (delay !== undefined && !seconds[0](delay)) throw OptionError(`${name}.delay`, quoted(delay), seconds[1])
  bytesOf(checkTopic(topic), message)
  checkPublishOptions(name, rest)
}
