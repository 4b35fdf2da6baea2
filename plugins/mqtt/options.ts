import { checkOptions, type Logger, OptionError, quoted, sizeOption } from '../../kernel/index.ts'
import { checkSources } from '../shared/service-class.ts'
import { type Address, addressOf } from './address.ts'
import type { BaseMqttClass } from './base-mqtt.ts'
import { type ConnectionOptions, checkConnection, connectionOptions } from './connection-options.ts'
import type { MqttPublishOptions } from './message-options.ts'

/** The last will: what the broker publishes when this client vanishes. */
export interface MqttWill extends MqttPublishOptions {
  topic: string
  message: unknown
  /** Seconds the broker waits, for a client that comes back; MQTT 5. Default 0. */
  delay?: number
}

/** How a broker is reached, and what this client does meanwhile. */
export interface MqttConnectOptions extends ConnectionOptions {
  /** `'memory'`: a broker within this process, for tests and development. Default `'mqtt'`. */
  provider?: 'mqtt' | 'memory'
  /** Whether a broker that is not there fails the start; `false`: the start goes on, and so do the attempts. Default true. */
  required?: boolean
  /** Milliseconds after which `publish` rejects. Default 5000. */
  publishTimeout?: number
  /** How many messages wait to be sent before `publish` rejects at once. Default 10000. */
  maxQueued?: number
  /** How large they are together: bytes or text such as `'64mb'`, the default. */
  maxQueuedSize?: number | string
  /** Milliseconds after which a handler counts as failed. Default 30000. */
  handlerTimeout?: number
}

/** What is loaded when the service starts: globs of files, and classes. */
export type MqttSource = string | BaseMqttClass

/** Options of the plugin. */
export interface MqttOptions {
  connect?: MqttConnectOptions
  /** Files and classes with subscriptions; `false`: this server handles no messages. Default `['src/mqtt/**\/*.{ts,js}']`, and every class that was imported. */
  subscribe?: boolean | readonly MqttSource[]
}

/** What `MqttService.connect` takes. */
export interface MqttServiceOptions extends MqttConnectOptions {
  /** Files and classes with subscriptions; `false`: handles no messages. Default: what is declared, and every class that was imported. */
  subscribe?: boolean | readonly MqttSource[]
  logger?: Logger
}

export interface MqttSettings extends Omit<Required<MqttConnectOptions>, 'maxQueuedSize' | keyof ConnectionOptions> {
  readonly address: Address
  readonly connection: ConnectionOptions
  readonly maxQueuedSize: number
}

const own = ['provider', 'required', 'publishTimeout', 'maxQueued', 'maxQueuedSize', 'handlerTimeout'] as const

function numberOf(name: string, value: unknown, fallback: number, expected: string): number {
  if (value === undefined) return fallback
  if (typeof value === 'number' && value >= 1 && value <= 2_147_483_647) return value
  throw OptionError(`mqtt.connect.${name}`, quoted(value), expected)
}

/** The options as an object, before anything is taken out of them. */
export function checkedObject<Options extends object>(options: Options): Options {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  throw OptionError('mqtt.connect', options, "an object such as { host: 'broker.example' } or { url: 'mqtt://…' }")
}

/** The options with every default in place, checked. */
export function settingsOf(options: MqttConnectOptions = {}): MqttSettings {
  checkOptions('mqtt.connect', options, [...own, ...connectionOptions])
  const {
    provider = 'mqtt',
    required = true,
    publishTimeout,
    maxQueued,
    maxQueuedSize = '64mb',
    handlerTimeout,
    ...rest
  } = options
  if (provider !== 'mqtt' && provider !== 'memory')
    throw OptionError('mqtt.connect.provider', quoted(provider), '"mqtt" or "memory"')
  if (typeof required !== 'boolean') throw OptionError('mqtt.connect.required', quoted(required), 'true or false')
  const connection = checkConnection(rest)
  return {
    provider,
    required,
    address: addressOf(connection),
    connection,
    publishTimeout: numberOf('publishTimeout', publishTimeout, 5_000, 'milliseconds from 1 on'),
    maxQueued: numberOf('maxQueued', maxQueued, 10_000, 'a number of messages from 1 on'),
    maxQueuedSize: sizeOption('mqtt.connect.maxQueuedSize', maxQueuedSize),
    handlerTimeout: numberOf('handlerTimeout', handlerTimeout, 30_000, 'milliseconds from 1 on'),
  }
}

export interface Sources {
  /** Whether the subscriptions of this process are handled at all. */
  readonly isOn: boolean
  readonly sources: readonly MqttSource[]
  /** Whether nobody has said which files: then there need not be any. */
  readonly isDefault: boolean
}

/** A list of files and classes, or an error that names the option. */
export function sourcesOf(subscribe: unknown, fallback: readonly string[]): Sources {
  if (subscribe === undefined || subscribe === true) return { isOn: true, sources: fallback, isDefault: true }
  if (subscribe === false) return { isOn: false, sources: [], isDefault: true }
  if (!Array.isArray(subscribe)) {
    throw OptionError('mqtt.subscribe', subscribe, "true, false, or a list of globs ('src/mqtt/**/*.ts') and classes")
  }
  const takes =
    "a glob such as 'src/mqtt/**/*.ts', or a class that extends BaseMqtt. A function becomes a handler by mqtt.subscribe(topic, handler)"
  checkSources('mqtt.subscribe', subscribe, takes)
  return { isOn: true, sources: subscribe, isDefault: false }
}
