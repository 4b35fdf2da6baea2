import { type Check, lazyCheckOf, passed } from '../../shared/schema/check.ts'
import type { OutputOf } from '../../validation/index.ts'
import { MqttPayloadError } from '../errors.ts'

/** The type that handlers receive for messages with that schema. */
export type ReceivedBy<Schema> = OutputOf<Schema>

/** Returns a message as its schema returns it, with defaults filled in; rejects a message that the schema refuses. */
export type CheckMessage = (topic: string, message: unknown) => Promise<unknown>

/**
 * A check that is compiled at its first use: JSON Schema, TypeBox, Zod, or another Standard Schema.
 *
 * @throws MqttPayloadError (as a rejection) with `issues`, for a message that does not match the schema.
 */
export function messageCheck(schema: object): CheckMessage {
  let check: Check | undefined
  return async (topic, message) => {
    check ??= lazyCheckOf(schema, 'body', (why) => MqttPayloadError(topic, `has a schema that cannot be used: ${why}`))
    return passed(check(message), (why) => MqttPayloadError(topic, why))
  }
}
