import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'
import { checkTopic } from './names.ts'

/** 0: at most once, 1: at least once, 2: exactly once, as far as the broker. */
export type MqttQos = 0 | 1 | 2

/** Options of one message. */
export interface MqttPublishOptions {
  /** Default 0. */
  qos?: MqttQos
  /** Whether the broker keeps it for whoever subscribes later; an empty text takes it back. Default false. */
  retain?: boolean
  /** Seconds after which the broker gives it to nobody any more. This and the following need MQTT 5. */
  messageExpiryInterval?: number
  userProperties?: { readonly [name: string]: string | readonly string[] }
  contentType?: string
  /** Where the answer is expected. */
  responseTopic?: string
  /** What the answer is told apart by. */
  correlationData?: Uint8Array
}

/** Options of one subscription. */
export interface MqttSubscribeOptions {
  /** The most the broker uses for what it sends. Default 0. */
  qos?: MqttQos
  /** Whether the handler gets bytes. Default false. */
  raw?: boolean
  /** Whether the handler gets what came with the message as a further argument. Default false. */
  details?: boolean
  /** What messages must be: JSON Schema, TypeBox, Zod, or another Standard Schema. */
  schema?: object
  /** How many messages are handled at the same time; with 1, the default, they keep their order. */
  concurrency?: number
  /** How many messages of QoS 0 wait for the handler, with 64 MiB at most, before further ones are dropped. Default 10000. */
  maxWaiting?: number
  /** Milliseconds after which the handler counts as failed. Default: that of the connection. */
  handlerTimeout?: number
}

const properties = [
  'messageExpiryInterval',
  'userProperties',
  'contentType',
  'responseTopic',
  'correlationData',
] as const

export const publishOptions: readonly string[] = ['qos', 'retain', ...properties]

/** Whether a message has something that only MQTT 5 can carry. */
export function needsVersion5(options: MqttPublishOptions): string | undefined {
  return properties.find((name) => options[name] !== undefined)
}

function checkQos(name: string, qos: unknown): void {
  if (qos !== undefined && qos !== 0 && qos !== 1 && qos !== 2)
    throw OptionError(`${name}.qos`, quoted(qos), '0, 1 or 2')
}

const isText = (value: unknown) =>
  typeof value === 'string' && Buffer.byteLength(value) <= 65_535 && !value.includes('\0')

/** @throws OptionError, MqttTopicError */
export function checkPublishOptions(name: string, options: MqttPublishOptions): void {
  checkOptions(name, options, publishOptions)
  const {
    qos,
    retain,
    messageExpiryInterval: expiry,
    userProperties,
    contentType,
    responseTopic,
    correlationData,
  } = options
  checkQos(name, qos)
  if (retain !== undefined && typeof retain !== 'boolean')
    throw OptionError(`${name}.retain`, quoted(retain), 'true or false')
  if (expiry !== undefined && (!Number.isInteger(expiry) || expiry < 0 || expiry > 4_294_967_295)) {
    throw OptionError(`${name}.messageExpiryInterval`, quoted(expiry), 'whole seconds from 0 to 4294967295')
  }
  if (userProperties !== undefined) {
    const isList = typeof userProperties === 'object' && userProperties !== null
    const all = isList ? Object.entries(userProperties).flat(2) : [undefined]
    if (!all.every(isText))
      throw OptionError(`${name}.userProperties`, userProperties, 'an object of texts, or of lists of texts')
  }
  if (contentType !== undefined && !isText(contentType)) throw OptionError(`${name}.contentType`, contentType, 'text')
  if (responseTopic !== undefined) checkTopic(responseTopic)
  if (
    correlationData !== undefined &&
    !(correlationData instanceof Uint8Array && correlationData.byteLength <= 65_535)
  ) {
    throw OptionError(`${name}.correlationData`, correlationData, 'up to 65535 bytes')
  }
}

/** @throws OptionError */
export function checkSubscribeOptions(options: MqttSubscribeOptions): void {
  const name = 'mqtt.subscribe'
  checkOptions(name, options, ['qos', 'raw', 'details', 'schema', 'concurrency', 'maxWaiting', 'handlerTimeout'])
  checkQos(name, options.qos)
  for (const flag of ['raw', 'details'] as const) {
    const value = options[flag]
    if (value !== undefined && typeof value !== 'boolean')
      throw OptionError(`${name}.${flag}`, quoted(value), 'true or false')
  }
  for (const number of ['concurrency', 'maxWaiting', 'handlerTimeout'] as const) {
    const value = options[number]
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= 2_147_483_647)) continue
    throw OptionError(`${name}.${number}`, quoted(value), 'a whole number from 1 on')
  }
  checkSchema(`${name}.schema`, options.schema)
  if (options.raw === true && options.schema !== undefined) {
    throw OptionError(`${name}.schema`, options.schema, 'no bytes: leave out raw, or check the bytes in the handler')
  }
}

/** @throws OptionError */
export function checkSchema(name: string, schema: unknown): void {
  const isSchema =
    schema === undefined || typeof schema === 'function' || (typeof schema === 'object' && schema !== null)
  if (!isSchema) throw OptionError(name, schema, 'a schema')
}
