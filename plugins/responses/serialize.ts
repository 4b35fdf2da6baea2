import { defineError } from '../../kernel/index.ts'
import type { Shape } from './helpers.ts'
import { Mismatch } from './mismatch.ts'
import type { Strictness } from './scalars.ts'
import { compileShape } from './shape.ts'

export const ResponseSchemaError = defineError(
  'ResponseSchemaError',
  500,
  (route: string, key: string, why: string) => `responses[${key}] of ${route} cannot be used: ${why}`,
)

const ResponseMismatchError = defineError(
  'ResponseMismatchError',
  500,
  (route: string, status: number, why: string) =>
    `the answer ${status} of ${route} is not what its schema says: ${why}. Nothing of it was sent`,
)

/** What is used of a validator that follows Standard Schema. */
interface Validator {
  readonly '~standard': {
    readonly validate: (value: unknown) => { value?: unknown; issues?: readonly { message: string; path?: unknown }[] }
  }
}

function isValidator(schema: object): schema is Validator {
  return typeof (schema as Partial<Validator>)['~standard']?.validate === 'function'
}

/** The validator decides what leaves: what it returns is sent. */
function shapeOfValidator(schema: Validator): Shape {
  const standard = schema['~standard']
  return (value) => {
    const result = standard.validate(value)
    if (result instanceof Promise) throw new TypeError('its validator is asynchronous, which an answer cannot wait for')
    const issue = result.issues?.[0]
    if (issue === undefined) return result.value
    const mismatch = new Mismatch(issue.message)
    const path = Array.isArray(issue.path) ? (issue.path as (PropertyKey | { key: PropertyKey })[]) : []
    mismatch.path.push(...path.map((part) => String(typeof part === 'object' ? part.key : part)))
    throw mismatch
  }
}

// A schema is compiled once in a process.
const compiled = [new WeakMap<object, Shape>(), new WeakMap<object, Shape>()] as const

function shapeOf(schema: object, strictness: Strictness): Shape {
  const shapes = compiled[strictness.coerce ? 1 : 0]
  let shape = shapes.get(schema)
  if (shape === undefined) {
    shape = isValidator(schema) ? shapeOfValidator(schema) : compileShape(schema, strictness)
    shapes.set(schema, shape)
  }
  return shape
}

/**
 * The serialiser of one status of one route: picks and checks what the schema names, and writes it with `JSON.stringify`.
 *
 * One way on every runtime, and nothing to load. Measured for 1 kB and for 1000 items, against fast-json-stringify
 * behind a check by Ajv (without one it turns wrong types into others): Node.js 26 2.4 and 243 µs against 3.7 and 428,
 * Bun 2.1 and 253 against 5.2 and 635, Node.js 20 7.0 and 694 against 4.3 and 507.
 *
 * @throws ResponseSchemaError for a schema that cannot be compiled.
 */
export function serializerOf(schema: object, route: string, status: number, strictness: Strictness) {
  let shape: Shape
  try {
    shape = shapeOf(schema, strictness)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw Object.assign(ResponseSchemaError(route, String(status), why), { cause: error })
  }
  return (payload: unknown): string => {
    let text: string | undefined
    try {
      text = JSON.stringify(shape(payload))
    } catch (error) {
      const why = error instanceof Mismatch || error instanceof Error ? error.message : String(error)
      throw Object.assign(ResponseMismatchError(route, status, why), { cause: error })
    }
    if (text === undefined) throw ResponseMismatchError(route, status, `it is a ${typeof payload}`)
    return text
  }
}
