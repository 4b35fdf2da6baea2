import { option } from '../../shared/options/index.ts'
import { timeoutOption } from '../../shared/work/attempt.ts'
import { type TransactionOptions, transactionOption } from '../../shared/work/transaction-options.ts'
import { filterProblem, topicProblem } from '../topics/filter.ts'

/** The quality of service as far as the broker: 0 at most once, 1 at least once, 2 exactly once. */
export type MqttQos = 0 | 1 | 2

/** Options of one message. */
export interface MqttPublishOptions {
  /** The quality of service: 0 at most once, 1 at least once, 2 exactly once. Default 0. */
  qos?: MqttQos
  /** Whether the broker keeps the message for later subscribers; an empty payload removes it. Default false. */
  retain?: boolean
  /** Seconds after which the broker no longer delivers the message. This and the following options need MQTT 5. */
  messageExpiryInterval?: number
  /** Headers of the message by name; a list stands for a header that occurs several times. */
  userProperties?: { readonly [name: string]: string | readonly string[] }
  /** The media type of the payload: `application/json`. */
  contentType?: string
  /** The topic on which the response is expected. */
  responseTopic?: string
  /** Bytes that the response must carry, so that it is recognised. */
  correlationData?: Uint8Array
}

/** The last will: the message that the broker publishes when this client vanishes. */
export interface MqttWill extends MqttPublishOptions {
  /** The topic that it is published to, without wildcards. */
  topic: string
  /** The message: strings and bytes as they are, everything else as JSON. */
  message: unknown
  /** Seconds for which the broker waits for the client to reconnect; MQTT 5. Default 0. */
  delay?: number
}

/** Options of one subscription. */
export interface MqttSubscribeOptions {
  /** The highest QoS with which the broker sends the messages. Default 0. */
  qos?: MqttQos
  /** Whether the handler receives bytes. Default false. */
  raw?: boolean
  /** Whether the handler receives the details of the message as a further argument. Default false. */
  details?: boolean
  /** The schema of messages: JSON Schema, TypeBox, Zod, or another Standard Schema. */
  schema?: object
  /** How many messages are handled at the same time; with 1, the default, they stay in order. */
  concurrency?: number
  /** How many messages of QoS 0 wait for the handler, up to 64 MiB, before further ones are dropped. Default 10000. */
  maxWaiting?: number
  /** Milliseconds after which a message counts as failed, and the next one is handled. Default: `handlerTimeout` of the connection. */
  timeout?: number
  /** Whether the handler runs in a transaction of the plugin `database`: a failure rolls it back. Default `false`. */
  transaction?: boolean | TransactionOptions
}

const qos = option.oneOf(0, 1, 2).says('0, 1 or 2')
export const seconds = option.int({ min: 0, max: 4_294_967_295 }).says('whole seconds from 0 to 4294967295')
const text = option.value<string>(
  'text',
  (given) => typeof given === 'string' && Buffer.byteLength(given) <= 65_535 && !given.includes('\0'),
)

const checkedBy = (problemOf: (given: unknown) => string | undefined, takes: string) =>
  option.custom<string, string>(takes, (given, place) => {
    const problem = problemOf(given)
    if (problem === undefined) return given as string
    if (typeof given !== 'string') return void place.wrong(given, takes)
    return void place.problem(`the topic of the option "${place.path}" ${problem}`)
  })

/** The name of a topic for publishing. */
export const topicName = checkedBy(topicProblem, 'the name of a topic')
export const filterOption = checkedBy(filterProblem, 'a topic, or a pattern')

/** The members that describe a message. @internal */
export const messageMembers = {
  qos,
  retain: option.flag(),
  messageExpiryInterval: seconds,
  userProperties: option.record(option.either(text, option.list(text)), 'an object of strings, or of lists of strings'),
  contentType: text,
  responseTopic: topicName,
  correlationData: option.value<Uint8Array>(
    'up to 65535 bytes',
    (given) => given instanceof Uint8Array && given.byteLength <= 65_535,
  ),
}

const { qos: _, retain: __, ...properties } = messageMembers
const ofVersion5 = Object.keys(properties) as (keyof typeof properties)[]

/** The part of a message that needs MQTT 5. */
export const needsVersion5 = (options: MqttPublishOptions): string | undefined =>
  ofVersion5.find((name) => options[name] !== undefined)

const publishOptions = option.shape(messageMembers).typed<MqttPublishOptions>()

/** @throws OptionError */
export const readPublishOptions = (given: MqttPublishOptions | undefined): MqttPublishOptions =>
  given === undefined ? {} : publishOptions.parse(given, 'mqtt.publish')

export const schemaOption = option.value<object>(
  'a schema',
  (given) => typeof given === 'function' || (typeof given === 'object' && given !== null),
)

const count = option.int({ min: 1, max: 2_147_483_647 }).says('a whole number from 1 on')

export const subscribeOptions = option
  .shape({
    qos,
    raw: option.flag(),
    details: option.flag(),
    schema: schemaOption,
    concurrency: count,
    maxWaiting: count,
    timeout: timeoutOption,
    transaction: transactionOption,
  })
  .into((given, place) => {
    if (given.raw && given.schema !== undefined) {
      place
        .in('schema')
        .wrong(given.schema, 'nothing together with raw: leave out raw, or check the bytes in the handler')
    }
    return given
  })
  .typed<MqttSubscribeOptions>()
