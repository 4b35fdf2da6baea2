import type { OutputOf } from '../validation/index.ts'
import { MqttPayloadError } from './errors.ts'

/** What handlers get of messages with that schema. */
export type ReceivedBy<Schema> = OutputOf<Schema>

/** Gives a message as its schema leaves it, defaults filled in; rejects what the schema refuses. */
export type CheckMessage = (topic: string, message: unknown) => Promise<unknown>

interface Issue {
  readonly message?: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[]
}
interface Verdict {
  readonly value?: unknown
  readonly issues?: readonly Issue[] | undefined
}
type Validate = (message: unknown) => Verdict | Promise<Verdict>

async function compileJsonSchema(schema: object): Promise<Validate> {
  // Only who checks messages pays for them; and a script has no server whose validation plugin could do it.
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
  return (message) => {
    if (validate(message)) return { value: message }
    return {
      issues: (validate.errors ?? []).map(({ instancePath, message: text }) => ({
        message: text,
        path: instancePath.split('/').slice(1),
      })),
    }
  }
}

function told({ message = 'it does not match', path = [] }: Issue): string {
  const place = path.map((part) => `/${String(typeof part === 'object' ? part.key : part)}`).join('')
  return `${place || 'the value'}: ${message}`
}

/**
 * A check that is compiled at its first use: JSON Schema, TypeBox, Zod, or another Standard Schema.
 *
 * @throws MqttPayloadError (as a rejection) with `issues`, for a message that is not what the schema says.
 */
export function messageCheck(schema: object): CheckMessage {
  const standard = (schema as { '~standard'?: { validate?: Validate } })['~standard']
  let compiled: Promise<Validate> | undefined
  return async (topic, message) => {
    compiled ??=
      standard?.validate === undefined ? compileJsonSchema(schema) : Promise.resolve(standard.validate.bind(standard))
    const { value, issues } = await (await compiled)(message)
    const [first] = issues ?? []
    if (first === undefined) return value
    throw Object.assign(MqttPayloadError(topic, `is not what its schema says: ${told(first)}`), { issues })
  }
}
