import { defineError } from '../../kernel/index.ts'
import { isSchema, lazyCheckOf } from '../shared/schema/check.ts'
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

/** The schema of a variant. */
export type VariantSchema = StandardSchema | JsonSchema

/** Turns an object with any members into `object`, so that every object fits, even one whose type is an interface. */
type Loosened<Type> = unknown extends Type ? unknown : { [name: string]: unknown } extends Type ? object : Type

/** The type that the function of a variant with that schema may return. */
export type TakenBy<Schema> = Loosened<InputOf<Schema>> | PromiseLike<Loosened<InputOf<Schema>>>

/** Finds the first place where a value does not match its schema; `undefined` if it matches. */
export type FindMismatch = (value: unknown) => Promise<Mismatch | undefined>

export interface Mismatch {
  /** A JSON pointer; `''` for the value itself. */
  readonly pointer: string
  readonly message: string
  /** All issues of the validator. */
  readonly issues: readonly unknown[]
}

export const VariantSchemaError = defineError(
  'VariantSchemaError',
  (why: string) => `${why}. A variant takes a Standard Schema (Zod 4 for example), a TypeBox schema or a JSON Schema`,
)

/** Compiles a schema at its first use; for one that cannot be compiled, each call rejects. */
export function mismatchFinder(schema: VariantSchema): FindMismatch {
  if (!isSchema(schema)) throw VariantSchemaError(`the schema is ${schema === null ? 'null' : `a ${typeof schema}`}`)
  const check = lazyCheckOf(schema, 'exact', VariantSchemaError)
  return async (value) => {
    const verdict = await check(value)
    if (verdict.ok) return undefined
    const [first] = verdict.issues
    return { pointer: first?.path ?? '', message: first?.message ?? 'it does not match', issues: verdict.issues }
  }
}
