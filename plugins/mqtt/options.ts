import { CallSite, type Logger } from '../../kernel/index.ts'
import { option, type SettingsOf } from '../shared/options/index.ts'
import { type GivenSources, sourcesOption } from '../shared/work/service-classes.ts'
import { type ConnectionOptions, connectionMembers, milliseconds, withAddress } from './links/connection-options.ts'
import type { Link } from './links/contract.ts'
import { filterOption, type MqttSubscribeOptions, subscribeOptions } from './messages/message-options.ts'
import type { BaseMqttClass } from './subscriptions/base-mqtt.ts'
import { type Declared, declarationOf } from './subscriptions/declarations.ts'
import type { IsPattern, MqttDetails, MqttHandler, MqttTopics } from './types.ts'

/** The broker, and the behaviour of this client. */
export interface MqttConnectOptions extends ConnectionOptions {
  /** `'memory'`: a broker in the memory of this process, for tests and development; each server has one of its own. Default `'mqtt'`. */
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

/** The arguments of the handler of an object; `details` with the option of the same name. */
type ListedArguments<Name extends string, Payload> =
  IsPattern<Name> extends true
    ? [topic: string, message: Payload, details?: MqttDetails]
    : [message: Payload, details?: MqttDetails]

/** A subscription to topics of which `MqttTopics` has the type. */
interface KnownSubscription<Name extends string> {
  /** The topic or the pattern, as in `MqttTopics`; after `$share/<group>/` as well. */
  topic: Name | `$share/${string}/${Name}`
  /** Called with each message. */
  handler: MqttHandler<ListedArguments<Name, MqttTopics[Name & keyof MqttTopics]>>
  /** The options of `mqtt.subscribe`. */
  options?: Omit<MqttSubscribeOptions, 'raw'>
}

/** A subscription to any topic. */
interface FreeSubscription<Name extends string> {
  /** The topic or the pattern. */
  topic: Name
  /** Called with each message, or with its topic and the message if `topic` has a wildcard. */
  handler: MqttHandler<[first: unknown, second?: unknown, details?: MqttDetails]>
  /** The options of `mqtt.subscribe`. */
  options?: MqttSubscribeOptions
}

/** A subscription as an object. Once {@link MqttTopics} has a topic, the others need `mqtt.subscribe` with a schema, or a name of type `string`. */
export type MqttSubscriptionSource = [keyof MqttTopics] extends [never]
  ? FreeSubscription<string>
  :
      | { [Name in keyof MqttTopics & string]: KnownSubscription<Name> }[keyof MqttTopics & string]
      | FreeSubscription<`$SYS/${string}`>

/** The subscriptions of a service: globs of files, classes, and objects. */
export type MqttSource = string | BaseMqttClass | MqttSubscriptionSource

/** Options of the plugin. */
export interface MqttOptions {
  /** How the broker is reached. Default: a broker on `MQTT_HOST` and `MQTT_PORT` of the environment. */
  connect?: MqttConnectOptions
  /** Files and classes with subscriptions, and subscriptions as objects; `false`: this server handles no messages. Default `['src/mqtt/**\/*.{ts,js}']`, and every imported class. */
  subscribe?: boolean | readonly MqttSource[]
}

/** The options of `MqttService.connect`. */
export interface MqttServiceOptions extends MqttConnectOptions {
  /** Files and classes with subscriptions, and subscriptions as objects; `false`: handles no messages. Default: all declared subscriptions, and every imported class. */
  subscribe?: boolean | readonly MqttSource[]
  /** The logger of the service. Default: lines on standard error, from level `warn` up. */
  logger?: Logger
}

export interface Sources extends GivenSources<Declared> {
  /** Whether the subscriptions of this process are handled at all. */
  readonly isOn: boolean
}

const listed = option
  .shape({
    topic: filterOption.required(),
    handler: option.fn('a function that is called with each message').required(),
    options: subscribeOptions,
  })
  .into(({ topic, handler, options }) => declarationOf(topic, handler, options))

const sources = sourcesOption<MqttSource, Declared>(
  listed,
  "a glob such as 'src/mqtt/**/*.ts', a class that extends BaseMqtt, or a subscription ({ topic, handler, options })",
)

/** Files, classes and subscriptions; `files` is the default. */
const subscribeOption = (files: readonly string[]) =>
  option
    .either(option.flag(), sources)
    .says("true, false, or a list of globs ('src/mqtt/**/*.ts'), classes and subscriptions ({ topic, handler })")
    .into((given): Sources => {
      if (typeof given === 'boolean') return { isOn: given, sources: given ? files : [], listed: [], isDefault: true }
      return { isOn: true, ...given }
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

/** What a run of a service works with. */
export interface RunParts {
  readonly settings: MqttSettings
  readonly log: Logger
  readonly link: Link
  /** Whose work it is; a script has none. */
  readonly server: object | undefined
}

/** @internal */
export const mqttOptions = option
  .shape({ connect: mqttConnectOptions, subscribe: subscribeOption(['src/mqtt/**/*.{ts,js}']) })
  // Where the server is made, to name it beside another one with the same id.
  .into((given) => ({ ...given, place: given.connect.clientId === undefined ? undefined : new CallSite() }))
  .typed<MqttOptions>()

export const mqttServiceOptions = option
  .shape({ ...members, subscribe: subscribeOption([]), logger: option.having<Logger>(['info', 'warn'], 'a logger') })
  .says(connectTakes)
  .into(withAddress)
  .typed<MqttServiceOptions>()

/** The settings of a service. */
export type MqttServiceSettings = SettingsOf<typeof mqttServiceOptions>
