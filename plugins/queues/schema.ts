import type { InputOf, OutputOf } from '../validation/index.ts'
import { QueuePayloadError } from './errors.ts'

/** A schema for payloads: JSON Schema, TypeBox, Zod, or another Standard Schema. */
export type PayloadSchema = object

/** What may be published to a queue with that schema. */
export type PublishedBy<Schema> = InputOf<Schema>
/** What its handlers get. */
export type ReceivedBy<Schema> = OutputOf<Schema>

/** Gives the payload as its schema leaves it, defaults filled in; rejects what the schema refuses. */
export type CheckPayload = (payload: unknown) => Promise<unknown>

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[]
}
type Result = { readonly issues?: readonly Issue[]; readonly value?: unknown }
type Verdict = { readonly value: unknown } | { readonly why: string; readonly issues: readonly unknown[] }

const pathOf = (path: Issue['path']) =>
  (path ?? []).map((part) => `/${String(typeof part === 'object' ? part.key : part)}`).join('')
const sentence = (path: string, message: string | undefined) =>
  `${path || 'the value'}: ${message ?? 'it does not match'}`

function standardCheck(validate: (value: unknown) => Result | Promise<Result>) {
  return async (payload: unknown): Promise<Verdict> => {
    const { issues, value } = await validate(payload)
    const first = issues?.[0]
    return first === undefined ? { value } : { why: sentence(pathOf(first.path), first.message), issues: issues! }
  }
}

async function jsonSchemaCheck(schema: object) {
  // Only who checks payloads pays for them; and a script publishes without a server, so without its validation plugin.
  const [{ Ajv2020 }, formats] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')])
  const ajv = new Ajv2020({
    strict: false,
    strictNumbers: true,
    useDefaults: true,
    validateSchema: false,
    logger: false,
  })
  formats.default.default(ajv)
  const validate = ajv.compile(schema)
  return async (payload: unknown): Promise<Verdict> => {
    // Defaults are filled in on a copy: who is told of a failure sees what has come.
    const value = structuredClone(payload)
    if (validate(value)) return { value }
    const first = validate.errors?.[0]
    return { why: sentence(first?.instancePath ?? '', first?.message), issues: validate.errors ?? [] }
  }
}

/**
 * Compiles a schema at its first use.
 *
 * @throws QueuePayloadError (as a rejection) with `issues`, for a payload that is not what the schema says.
 */
export function payloadCheck(queue: string, schema: PayloadSchema): CheckPayload {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) {
    throw QueuePayloadError(
      queue,
      `has no schema that could be used: it is ${schema === null ? 'null' : `a ${typeof schema}`}`,
    )
  }
  const standard = (schema as { '~standard'?: { validate?: (value: unknown) => Result } })['~standard']
  let compiled: Promise<(payload: unknown) => Promise<Verdict>> | undefined
  return async (payload) => {
    compiled ??=
      standard?.validate === undefined
        ? jsonSchemaCheck(schema)
        : Promise.resolve(standardCheck(standard.validate.bind(standard)))
    const verdict = await (await compiled)(payload)
    if ('value' in verdict) return verdict.value
    throw Object.assign(QueuePayloadError(queue, `is not what its schema says: ${verdict.why}`), {
      issues: verdict.issues,
    })
  }
}
