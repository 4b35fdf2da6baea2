import type { InputOf } from '../validation/index.ts'
import type { MqttPublishOptions, MqttSubscribeOptions } from './messages/message-options.ts'
import type { ReceivedBy } from './messages/payload.ts'
import type { MqttHandle } from './subscriptions/declarations.ts'
import type { ExactName, IsPattern, KnownName, MqttArguments, MqttHandler, MqttPayload, TypedName } from './types.ts'

/** Options of a topic: they apply to all its subscriptions and publications. */
export interface MqttTopicOptions {
  /** The schema of messages, both published and received. */
  schema?: object
}

/** A topic that handlers subscribe to. */
export interface MqttPatternTopic<Pattern extends boolean, Received> {
  /** The name with its wildcards: `sensors/+/temperature`. */
  readonly name: string
  /** Subscribes a handler, called with the message, or with topic and message if the topic has a wildcard. */
  subscribe<const Options extends Omit<MqttSubscribeOptions, 'schema'> = {}>(
    handler: MqttHandler<MqttArguments<Pattern, Received, Options>>,
    options?: Options,
  ): MqttHandle
}

/** A topic that messages are published to, and that handlers subscribe to. */
export interface MqttTopic<Published, Received = Published> extends MqttPatternTopic<false, Received> {
  /** Publishes a message to this topic, as `mqtt.publish` does. */
  publish(message: Published | Uint8Array, options?: MqttPublishOptions): Promise<void>
}

type TopicOf<Name extends string, Published, Received> =
  IsPattern<Name> extends true ? MqttPatternTopic<true, Received> : MqttTopic<Published, Received>

/** Methods for messages. */
export interface MqttApi {
  /**
   * Publishes a message: strings and bytes as they are, everything else as JSON. Resolves when the broker has it: with QoS 1 and
   * 2 when it is acknowledged, with QoS 0 when it is written.
   *
   * @throws (as a rejection) MqttNotConnectedError, MqttUnavailableError, MqttFullError, MqttPublishError, MqttPayloadError,
   * MqttTopicError, OptionError.
   */
  publish<const Name extends string>(
    topic: ExactName<Name>,
    message: MqttPayload<Name> | Uint8Array,
    options?: MqttPublishOptions,
  ): Promise<void>

  /**
   * Subscribes a handler, called with the message, or with topic and message if the topic has a wildcard.
   *
   * @throws MqttTopicError, OptionError; as a rejection MqttSubscribeError when the broker refuses.
   */
  subscribe<const Name extends string, const Options extends MqttSubscribeOptions = {}>(
    // A schema sets the type of messages, wherever they come from.
    topic: Options extends { readonly schema: object } ? Name : KnownName<Name>,
    handler: MqttHandler<MqttArguments<IsPattern<Name>, MqttPayload<Name>, Options>>,
    options?: Options,
  ): MqttHandle

  /** Returns a topic by its name; the type of its messages comes from `MqttTopics`, a schema, or a type argument. */
  topic<const Name extends string, const Schema extends object>(
    name: Name,
    options: { readonly schema: Schema },
  ): TopicOf<Name, InputOf<Schema>, ReceivedBy<Schema>>
  topic<const Name extends string>(
    name: Name & TypedName<Name>,
    options?: MqttTopicOptions,
  ): TopicOf<Name, MqttPayload<Name>, MqttPayload<Name>>
  topic<Payload = unknown>(
    pattern: `${string}+${string}` | `${string}#${string}`,
    options?: MqttTopicOptions,
  ): MqttPatternTopic<true, Payload>
  topic<Payload = unknown>(name: string, options?: MqttTopicOptions): MqttTopic<Payload>
}
