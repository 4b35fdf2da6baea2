import type { ReceivedBy } from './messages/payload.ts'

/**
 * The types of messages by topic or pattern; declare your own by merging into this interface.
 *
 * @example
 * declare module 'framework' {
 *   interface MqttTopics {
 *     'doors/front': { open: boolean }
 *     'sensors/+/temperature': number
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications merge their topics into it.
export interface MqttTopics {}

/** Whether a topic is a pattern: its handlers also receive the topic. */
export type IsPattern<Name extends string> = Name extends `${string}+${string}` | `${string}#${string}` ? true : false

type WithoutShare<Name extends string> = Name extends `$share/${string}`
  ? Name extends `$share/${infer _Group}/${infer Filter}`
    ? Filter
    : never
  : Name

/** A pattern as the type of its topics; `+` may match several levels here. */
type Shape<Pattern extends string> = Pattern extends '#'
  ? string
  : Pattern extends `${infer Head}/#`
    ? Shape<Head> | `${Shape<Head>}/${string}`
    : Pattern extends `${infer Head}+${infer Tail}`
      ? `${Head}${string}${Shape<Tail>}`
      : Pattern

type Merged<Name extends string, Keys extends string = keyof MqttTopics & string> = {
  [Key in Keys]: Key extends Shape<Name>
    ? MqttTopics[Key & keyof MqttTopics]
    : Name extends Shape<Key>
      ? MqttTopics[Key & keyof MqttTopics]
      : never
}[Keys]

type PayloadOf<Name extends string> = Name extends keyof MqttTopics ? MqttTopics[Name] : Merged<Name>

/** The type of the messages of a topic, from {@link MqttTopics}; `unknown` if it is not declared there. */
export type MqttPayload<Name extends string> = string extends Name
  ? unknown
  : [PayloadOf<WithoutShare<Name>>] extends [never]
    ? unknown
    : PayloadOf<WithoutShare<Name>>

/** A name whose messages have a type. */
export type TypedName<Name extends string> = unknown extends MqttPayload<Name> ? never : Name

/**
 * The type that a topic is compared with if {@link MqttTopics} has members: an unknown literal does not compile. The first
 * branch is never taken; it serves to infer `Name`.
 */
export type KnownName<Name extends string> = [Name] extends [never]
  ? Name
  : // Text, and templates with text in them, are not known in advance.
    {} extends Record<Name, unknown>
    ? Name
    : [keyof MqttTopics] extends [never]
      ? Name
      : [PayloadOf<WithoutShare<Name>>] extends [never]
        ? Name extends `$SYS/${string}`
          ? Name
          : keyof MqttTopics & string
        : Name

/** The same as `KnownName`, for a name to publish to, which has no wildcard. */
export type ExactName<Name extends string> = [Name] extends [never]
  ? Name
  : IsPattern<Name> extends true
    ? 'a message is published to one topic, without wildcards'
    : KnownName<Name>

/** The details of a message. */
export interface MqttDetails {
  /** The topic that the message was published to. */
  readonly topic: string
  /** The quality of service with which the broker sent the message: the lower of the message's and the subscription's. */
  readonly qos: 0 | 1 | 2
  /** Whether the broker had retained the message for later subscribers. */
  readonly retain: boolean
  /** Whether the broker sent the message again because it does not know whether it arrived before. */
  readonly duplicate: boolean
  /** The headers of the message by name. This and everything below needs MQTT 5. */
  readonly userProperties: { readonly [name: string]: string | readonly string[] }
  /** The media type of the payload, as stated by the publisher. */
  readonly contentType: string | undefined
  /** Where the publisher expects the response. */
  readonly responseTopic: string | undefined
  /** What the response must carry, so that the publisher knows which message it belongs to. */
  readonly correlationData: Uint8Array | undefined
  /** Aborts when the handler has reached its time limit, and when closing no longer waits for it. */
  readonly signal: AbortSignal
}

/** The arguments of a handler, depending on its options. */
export type MqttArguments<Pattern extends boolean, Payload, Options> = [
  ...(Pattern extends true ? [topic: string] : []),
  message: Options extends { readonly raw: true }
    ? Uint8Array
    : Options extends { readonly schema: infer Schema }
      ? ReceivedBy<Schema>
      : Payload,
  ...(Options extends { readonly details: true } ? [details: MqttDetails] : []),
]

// As a method, so that a handler may declare the type for an untyped topic: `(message: Reading) => …`.
/** A handler of messages. The next message waits for its promise. */
export type MqttHandler<Arguments extends readonly unknown[]> = { handle(...args: Arguments): unknown }['handle']
