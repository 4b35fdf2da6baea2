import { QueuePayloadError, QueueSchemaError } from '../shared/engines/errors.ts'
import { isSchema, lazyCheckOf, passed, usableCheckOf } from '../shared/schema/check.ts'
import { isStandardSchema } from '../shared/schema/standard.ts'
import type { InputOf, OutputOf } from '../validation/index.ts'

/** A schema for payloads: JSON Schema, TypeBox, Zod, or another Standard Schema. */
export type PayloadSchema = object

/** The type that may be published to a queue with that schema. */
export type PublishedBy<Schema> = InputOf<Schema>
/** The type that its handlers receive. */
export type ReceivedBy<Schema> = OutputOf<Schema>

/** Returns the payload as the schema returns it, with defaults filled in; rejects a payload that the schema refuses. */
export type CheckPayload = (payload: unknown) => Promise<unknown>

/**
 * Compiles a schema at its first use.
 *
 * @throws QueueSchemaError for an invalid schema, as a rejection if it cannot be compiled; QueuePayloadError (as a rejection) with
 * `issues` for a payload that does not match it.
 */
export function payloadCheck(queue: string, schema: PayloadSchema): CheckPayload {
  const unusable = (why: string) => QueueSchemaError(queue, why)
  if (!isSchema(schema))
    throw unusable(`it is ${Array.isArray(schema) ? 'a list' : schema === null ? 'null' : `a ${typeof schema}`}`)
  const check = lazyCheckOf(schema, 'body', unusable)
  return async (payload) => {
    // Defaults are filled in on a copy: an error handler receives the payload as it came.
    const own = isStandardSchema(schema) ? payload : structuredClone(payload)
    return passed(check(own), (why) => QueuePayloadError(queue, why))
  }
}

/** Compiles a schema now, for a server that boots. @throws QueueSchemaError if it cannot be compiled. */
export function compileSchema(queue: string, schema: PayloadSchema): void {
  usableCheckOf(schema, 'body', (why) => QueueSchemaError(queue, why))
}
