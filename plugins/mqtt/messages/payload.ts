import { parse } from 'secure-json-parse'
import { passed, usableCheckOf } from '../../shared/schema/check.ts'
import { jsonText } from '../../shared/values/json-text.ts'
import { safely } from '../../shared/values/safely.ts'
import type { OutputOf } from '../../validation/index.ts'
import { MqttPayloadError } from '../errors.ts'

/** MQTT 5 section 2.1.4: the largest length of a packet, less the longest topic. */
const largest = 268_435_455 - 65_535 - 16

/**
 * A message as bytes: strings and bytes as they are, everything else as JSON.
 *
 * @throws MqttPayloadError for a value that JSON cannot represent.
 */
export function bytesOf(topic: string, message: unknown): Buffer {
  const bytes = encode(topic, message)
  if (bytes.byteLength > largest) throw MqttPayloadError(topic, `has ${bytes.byteLength} bytes; MQTT allows ${largest}`)
  return bytes
}

function encode(topic: string, message: unknown): Buffer {
  if (typeof message === 'string') return Buffer.from(message)
  if (message instanceof ArrayBuffer) return Buffer.from(message.slice(0))
  // A copy: it may wait for the broker, while the caller may change the original.
  if (ArrayBuffer.isView(message))
    return Buffer.from(Buffer.from(message.buffer, message.byteOffset, message.byteLength))
  return Buffer.from(jsonText(message, (why) => MqttPayloadError(topic, why)))
}

/** Bytes as a message: parsed if they are JSON, without keys that reach a prototype; otherwise a string. */
export function messageOf(bytes: Uint8Array): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // A strict decoder takes three times as long. Only what is not UTF-8 has this character and, encoded again, is something else.
  const text = buffer.toString('utf8')
  if (text.includes('\ufffd') && !buffer.equals(Buffer.from(text))) return text
  const value: unknown = safely(() => JSON.parse(text), text)
  // `__proto__` and `constructor.prototype` both need these letters, or an escape in their place.
  if (typeof value !== 'object' || value === null || !/proto|\\u/.test(text)) return value
  return parse(text, null, { protoAction: 'remove', constructorAction: 'remove' })
}

/** The type that handlers receive for messages with that schema. */
export type ReceivedBy<Schema> = OutputOf<Schema>

/** Returns a message as its schema returns it, with defaults filled in; rejects a message that the schema refuses. */
export type CheckMessage = (topic: string, message: unknown) => Promise<unknown>

/**
 * A check, compiled when it is first needed: JSON Schema, TypeBox, Zod, or another Standard Schema.
 *
 * @throws MqttPayloadError (as a rejection) with `issues`, for a message that does not match the schema.
 */
export function messageCheck(schema: object): CheckMessage {
  return async (topic, message) => {
    const unusable = (why: string) => MqttPayloadError(topic, `has a schema that cannot be used: ${why}`)
    const check = usableCheckOf(schema, 'body', unusable)
    return passed(check(message), (why) => MqttPayloadError(topic, why))
  }
}
