import { defineErrors } from '../../kernel/index.ts'
import { isObject } from '../shared/schema/keywords.ts'
import { isStandardSchema, pathOf, type StandardSchema } from '../shared/schema/standard.ts'
import { validatorOf } from '../shared/schema/zod.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { messageOf, orFail, safely, unlessLate } from '../shared/values/safely.ts'
import { compileShape } from './checked-copy.ts'
import { LenientShape } from './lenient.ts'
import { Mismatch } from './mismatch.ts'
import { type Write, writerOf } from './writer.ts'
import { helpers, type Shape } from './writer-helpers.ts'

export const { ResponseSchemaError } = defineErrors({
  ResponseSchemaError: (route: string, key: string, why: string) =>
    `responses[${key}] of ${route} cannot be used: ${why}`,
})

const { ResponseMismatchError } = defineErrors({
  ResponseMismatchError: (route: string, status: number, why: string, sent: string) =>
    `the response ${status} of ${route} does not match its schema: ${why}. ${sent}`,
})

/** Writes the responses for one schema. */
export type Serializer = (payload: unknown, status: number) => string

/** A compiled schema: the function that picks from a value, and the one that writes it. */
interface Compiled {
  readonly shape: Shape
  readonly write: Write
}

// A schema is compiled once per process.
const compiled = new WeakMap<object, Compiled>()

function compile(schema: object): Compiled {
  return madeIn(compiled, schema, () =>
    isStandardSchema(schema)
      ? { shape: shapeOfValidator(schema), write: JSON.stringify }
      : { shape: compileShape(schema), write: writerOf(schema) },
  )
}

/**
 * The serialiser for one schema of one route: it picks and checks the members of the schema, and writes them.
 *
 * With `onMismatch` it is lenient, see `Responses.compile`.
 *
 * @throws ResponseSchemaError for a schema that cannot be compiled.
 */
export function serializerOf(
  schema: object,
  route: string,
  key: string,
  onMismatch?: (error: Error) => void,
): Serializer {
  const { shape, write } = orFail(
    () => compile(schema),
    (why) => ResponseSchemaError(route, key, why),
  )
  const strict: Serializer = (payload, status) => {
    let text: string | undefined
    try {
      text = write(shape(payload))
    } catch (error) {
      throw Object.assign(ResponseMismatchError(route, status, reasonOf(error), nothingSent), { cause: error })
    }
    if (text === undefined) throw ResponseMismatchError(route, status, `it is a ${typeof payload}`, nothingSent)
    return text
  }
  return onMismatch === undefined ? strict : lenient(schema, route, strict, onMismatch)
}

const nothingSent = 'It was not sent'

const reasonOf = (error: unknown) => (error instanceof Mismatch ? error.message : messageOf(error))

function pickerOf(schema: object): Shape {
  if (isStandardSchema(schema)) return (payload) => pickByValidator(schema, payload)
  const shape = new LenientShape(schema)
  return (payload) => shape.pick(payload)
}

function lenient(schema: object, route: string, strict: Serializer, onMismatch: (error: Error) => void): Serializer {
  // Made for the first mismatching response: most routes never have one.
  let pick: Shape | undefined
  return (payload, status) => {
    try {
      return strict(payload, status)
    } catch (error) {
      const { cause } = error as Error
      if (!(cause instanceof Mismatch)) throw error
      pick ??= pickerOf(schema)
      const picked = pick
      // Where a getter has thrown, or there is a cycle, the value cannot be written.
      const text: string | undefined = safely(() => JSON.stringify(picked(payload)))
      if (text === undefined) throw error
      const why = 'Only the members that match the schema were sent'
      onMismatch(Object.assign(ResponseMismatchError(route, status, cause.message, why), { cause }))
      return text
    }
  }
}

function run(schema: StandardSchema, value: unknown) {
  const result = unlessLate(validatorOf(schema, false)(value))
  if (result === undefined) throw new TypeError('its validator is asynchronous; responses need a synchronous one')
  return result
}

/** The shape of a validator, whose result is what is sent. */
function shapeOfValidator(schema: StandardSchema): Shape {
  return (value) => {
    const result = run(schema, value)
    const issue = result.issues?.[0]
    if (issue !== undefined) throw new Mismatch(issue.message, pathOf(issue).map(String))
    return (result as { readonly value: unknown }).value
  }
}

/**
 * Picks the members that their own validators accept. A refused member is left out, even a scalar: the purpose of its
 * validator may be to hide a part of it, and it has not finished.
 */
function pickByValidator(schema: unknown, value: unknown): unknown {
  if (!isStandardSchema(schema)) return undefined
  const result = run(schema, value)
  if (result.issues === undefined) return result.value
  // Where Zod and Valibot store the schemas of members and items, and the inner schema of an optional one.
  const { shape, entries, element, item, wrapped, unwrap } = schema as Readonly<Record<string, unknown>> &
    StandardSchema
  const members = shape ?? entries
  if (isObject(members) && isObject(value)) {
    const picked = {}
    for (const [name, member] of Object.entries(members)) {
      const part = pickByValidator(member, helpers.member(value, name))
      if (part !== undefined) helpers.put(picked, name, part)
    }
    return picked
  }
  const one = element ?? item
  if (one !== undefined && Array.isArray(value)) return value.map((each) => pickByValidator(one, each) ?? null)
  return pickByValidator(typeof unwrap === 'function' ? (unwrap.call(schema) as unknown) : wrapped, value)
}
