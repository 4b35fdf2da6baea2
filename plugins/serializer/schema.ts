import { defineError } from '../../kernel/index.ts'
import type { InputOf } from '../validation/index.ts'

/** A validator of any library that follows Standard Schema v1: Zod 4, Valibot, ArkType and others. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined
  }
}

/** A JSON Schema, or a TypeBox one. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
  readonly '~standard'?: never
}

/** What a variant may be checked with. */
export type VariantSchema = StandardSchema | JsonSchema

/** An object of any members is every object, one whose type is an interface too. */
type Loosened<Type> = unknown extends Type ? unknown : { [name: string]: unknown } extends Type ? object : Type

/** What the function of a variant with that schema may return. */
export type TakenBy<Schema> = Loosened<InputOf<Schema>> | PromiseLike<Loosened<InputOf<Schema>>>

/** The first place where a value is not what its schema says, `undefined` when there is none. */
export type FindMismatch = (value: unknown) => Promise<Mismatch | undefined>

export interface Mismatch {
  /** A JSON pointer, `''` for the value itself. */
  readonly pointer: string
  readonly message: string
  /** Everything that the validator has said. */
  readonly issues: readonly unknown[]
}

export const VariantSchemaError = defineError(
  'VariantSchemaError',
  500,
  (why: string) => `${why}. A variant takes a Standard Schema (Zod 4 for example), a TypeBox schema or a JSON Schema`,
)

type Key = PropertyKey | { readonly key: PropertyKey }
interface StandardIssue {
  readonly message: string
  readonly path?: readonly Key[]
}

/** The path of an issue as a JSON pointer (RFC 6901). */
function pointerOf(path: readonly Key[] = []): string {
  return path
    .map((part) => String(typeof part === 'object' ? part.key : part))
    .map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}

async function standardMismatch(schema: StandardSchema, value: unknown): Promise<Mismatch | undefined> {
  const { issues } = (await schema['~standard'].validate(value)) as { issues?: readonly StandardIssue[] }
  const first = issues?.[0]
  return first === undefined
    ? undefined
    : { pointer: pointerOf(first.path), message: first.message, issues: issues ?? [] }
}

async function compileJsonSchema(schema: JsonSchema): Promise<FindMismatch> {
  // Only who validates pays for them: 90 ms on Node 20.
  const [{ Ajv2020 }, formats] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')])
  // One for each schema: two of them may have the same $id.
  const ajv = new Ajv2020({ strict: false, strictNumbers: true, validateSchema: false, logger: false })
  formats.default.default(ajv)
  const validate = ajv.compile(schema)
  return async (value) => {
    if (validate(value)) return undefined
    const issues = validate.errors ?? []
    const [first] = issues
    return { pointer: first?.instancePath ?? '', message: first?.message ?? 'it does not match', issues }
  }
}

/** Compiles a schema at its first use; one that cannot be compiled rejects each time. */
export function mismatchFinder(schema: VariantSchema): FindMismatch {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || Array.isArray(schema)) {
    throw VariantSchemaError(`the schema is ${schema === null ? 'null' : `a ${typeof schema}`}`)
  }
  if (typeof schema['~standard']?.validate === 'function') {
    return (value) => standardMismatch(schema as StandardSchema, value)
  }
  let compiled: Promise<FindMismatch> | undefined
  return async (value) => {
    compiled ??= compileJsonSchema(schema as JsonSchema)
    return (await compiled)(value)
  }
}
