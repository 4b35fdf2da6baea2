import type { Logger } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { sourceList } from '../shared/work/service-classes.ts'
import { type ConnectionOptions, connectionMembers, milliseconds, withAddress } from './links/connection-options.ts'
import type { BaseMqttClass } from './subscriptions/base-mqtt.ts'

/** The broker, and the behaviour of this client. */
export interface MqttConnectOptions extends ConnectionOptions {
  /** `'memory'`: a broker within this process, for tests and development. Default `'mqtt'`. */
  provider?: 'mqtt' | 'memory'
  /** Whether the start fails when the broker is unavailable; `false`: it succeeds, and the attempts to connect continue. Default true. */
  required?: boolean
  /** Milliseconds after which `publish` rejects. Default 5000. */
  publishTimeout?: number
  /** How many messages wait to be sent before `publish` rejects immediately. Default 10000. */
  maxQueued?: number
  /** The maximum total size of those messages: bytes, or a string such as `'64mb'`, the default. */
  maxQueuedSize?: number | string
  /** Milliseconds after which a handler counts as failed. Default 30000. */
  handlerTimeout?: number
}

/** The subscriptions to load when the service starts: globs of files, and classes. */
export type MqttSource = string | BaseMqttClass

/** Options of the plugin. */
export interface MqttOptions {
  /** How the broker is reached. Default: a broker on `MQTT_HOST` and `MQTT_PORT` of the environment. */
  connect?: MqttConnectOptions
  /** Files and classes with subscriptions; `false`: this server handles no messages. Default `['src/mqtt/**\/*.{ts,js}']`, and every imported class. */
  subscribe?: boolean | readonly MqttSource[]
}

/** The options of `MqttService.connect`. */
export interface MqttServiceOptions extends MqttConnectOptions {
  /** Files and classes with subscriptions; `false`: handles no messages. Default: all declared subscriptions, and every imported class. */
  subscribe?: boolean | readonly MqttSource[]
  /** The logger of the service. Default: lines on standard error, from level `warn` up. */
  logger?: Logger
}

export interface Sources {
  /** Whether the subscriptions of this process are handled at all. */
  readonly isOn: boolean
  readonly sources: readonly MqttSource[]
  /** Whether the files are the default ones, which need not exist. */
  readonly isDefault: boolean
}

const sourceTakes =
  "a glob such as 'src/mqtt/**/*.ts', or a class that extends BaseMqtt. A function becomes a handler by mqtt.subscribe(topic, handler)"

/** Files and classes; `files` is the default. */
const subscribeOption = (files: readonly string[]) =>
  option
    .either(option.flag(), sourceList<MqttSource>(sourceTakes))
    .says("true, false, or a list of globs ('src/mqtt/**/*.ts') and classes")
    .into((given): Sources => {
      if (typeof given !== 'boolean') return { isOn: true, sources: given, isDefault: false }
      return { isOn: given, sources: given ? files : [], isDefault: true }
    })
    .default(true)

const members = {
  ...connectionMembers,
  provider: option.oneOf('mqtt', 'memory').default('mqtt'),
  required: option.flag().default(true),
  publishTimeout: milliseconds.default(5_000),
  maxQueued: option.int({ min: 1, max: 2_147_483_647 }).says('a number of messages from 1 on').default(10_000),
  maxQueuedSize: option.size().default('64mb'),
  handlerTimeout: milliseconds.default(30_000),
}
const connectTakes = "an object such as { host: 'broker.example' } or { url: 'mqtt://…' }"

export const mqttConnectOptions = option.shape(members).says(connectTakes).into(withAddress).typed<MqttConnectOptions>()

export type MqttSettings = SettingsOf<typeof mqttConnectOptions>

export const mqttOptions = option
  .shape({ connect: mqttConnectOptions, subscribe: subscribeOption(['src/mqtt/**/*.{ts,js}']) })
  .typed<MqttOptions>()

/** The settings of a service. */
export interface MqttServiceSettings extends MqttSettings {
  readonly subscribe: Sources
  readonly logger: Logger | undefined
}

export const mqttServiceOptions = option
  .shape({ ...members, subscribe: subscribeOption([]), logger: option.having<Logger>(['info', 'warn'], 'a logger') })
  .says(connectTakes)
  .into((given, place): MqttServiceSettings => withAddress(given, place))
  .typed<MqttServiceOptions>()
