import { isPromise } from '../../../kernel/support/within.ts'
import { isObject } from '../values/json.ts'
import { madeIn } from '../values/memoize.ts'
import { safely } from '../values/safely.ts'
import type { StandardIssue, StandardResult, StandardSchema } from './verdict.ts'

/** The result of one run, whose issues have no words yet. */
interface Payload {
  readonly value: unknown
  readonly issues: readonly unknown[]
}

/** A schema or a check of Zod 4. */
interface ZodPart {
  readonly _zod: {
    readonly def: { readonly check?: string; readonly transform?: unknown }
    readonly innerType?: unknown
  }
}

/** A schema of Zod 4 or Zod Mini. */
interface ZodSchema extends ZodPart, StandardSchema {
  readonly _zod: ZodPart['_zod'] & {
    run(payload: { value: unknown; issues: unknown[] }, context: { async?: true }): Payload | Promise<Payload>
  }
  safeParseAsync(value: unknown): Promise<{ data: unknown; error?: { issues: readonly StandardIssue[] } }>
}

const isPart = (value: unknown): value is ZodPart => isObject((value as Partial<ZodPart> | null | undefined)?._zod)

const isZodSchema = (schema: StandardSchema): schema is ZodSchema =>
  isPart(schema) && typeof (schema as Partial<ZodSchema>).safeParseAsync === 'function'

const known = new WeakMap<object, boolean>()

/** Whether functions of the application decide in a schema: any of them may return a promise. */
const hasFunctions = (schema: ZodPart): boolean =>
  // What cannot be read, such as a `lazy` whose schema does not exist yet, may have some.
  madeIn(known, schema, () => safely(() => findsFunction(schema), true))

function findsFunction(schema: ZodPart): boolean {
  const parts = new Set([schema])
  for (const { _zod } of parts) {
    const { def, innerType } = _zod
    if (def.check === 'custom' || typeof def.transform === 'function' || parts.size > 10_000) return true
    const members = Object.values(def).flatMap((one) => (isObject(one) && !isPart(one) ? Object.values(one) : one))
    for (const one of [innerType, ...members]) if (isPart(one)) parts.add(one)
  }
  return false
}

/**
 * The validator of a Standard Schema. That of Zod first runs synchronously, drops the promises that it meets, and then runs again. A
 * dropped promise that rejects ends the process. So where functions decide, Zod runs once, in a way that keeps promises. For them
 * alone, because it takes two to three times as long: Zod has no generated code for it.
 *
 * Without `waits`, the result is a promise only if a function returned one: all transforms of Zod Mini return one otherwise.
 */
export function validatorOf(schema: StandardSchema, waits: boolean): StandardSchema['~standard']['validate'] {
  const { validate } = schema['~standard']
  if (!isZodSchema(schema) || !hasFunctions(schema)) return validate
  const late = async (value: unknown): Promise<StandardResult<unknown>> => {
    const { data, error } = await schema.safeParseAsync(value)
    return error === undefined ? { value: data } : { issues: error.issues }
  }
  let isLate = false
  return (value) => {
    if (isLate) return late(value)
    try {
      const result = schema._zod.run({ value, issues: [] }, waits ? { async: true } : {})
      // Issues get their words only in the public functions.
      if (!isPromise(result)) return result.issues.length === 0 ? { value: result.value } : validate(value)
      isLate = waits
      return result.then((found) => (found.issues.length === 0 ? { value: found.value } : late(value)))
    } catch {
      // The error becomes a rejection, as Zod does it.
      return late(value)
    }
  }
}
