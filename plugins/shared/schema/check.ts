import { hiding, rememberMarked } from '../values/marked.ts'
import { madeIn } from '../values/memoize.ts'
import { orFail } from '../values/safely.ts'
import { compileJsonSchema } from './json-schema/compile.ts'
import { type Marks, marksOf } from './marks.ts'
import { isStandardSchema, standardCheck } from './standard.ts'
import { type Check, firstInWords, type Mode, type Verdict } from './verdict.ts'

export type { Check, Mode, Verdict } from './verdict.ts'

// A schema is compiled once per process for each mode, however many routes, servers and tests use it.
const compiled = new WeakMap<object, Map<Mode, Check>>()

/** Whether a value can be a schema at all: an object, or a validator that is a function. */
export const isSchema = (schema: unknown): schema is object =>
  isStandardSchema(schema) || (typeof schema === 'object' && schema !== null && !Array.isArray(schema))

/** The check of a schema of any kind; compiled when it is first needed. */
export function checkOf(schema: object, mode: Mode): Check {
  const modes = madeIn(compiled, schema, () => new Map<Mode, Check>())
  return madeIn(modes, mode, () => {
    const marks = marksOf(schema)
    const check = isStandardSchema(schema) ? standardCheck(schema, mode) : compileJsonSchema(schema, mode)
    return marks === undefined ? check : discreetCheck(check, marks)
  })
}

/** The rest of a message in which ArkType and Valibot quote a value. */
const quoted = / \(was .*\)| but received .*/s

/** A check of a schema with marks: the running work remembers the marked values, and messages about mistakes do not repeat them. */
function discreetCheck(check: Check, marks: Marks): Check {
  return (given) => {
    const values = marks.valuesIn(given)
    rememberMarked(values)
    const settle = (verdict: Verdict): Verdict => {
      if (verdict.ok) {
        // A validator may have changed them.
        if (verdict.value !== given) rememberMarked(marks.valuesIn(verdict.value))
        return verdict
      }
      const discreet = hiding(values)
      const issues = verdict.issues.map((one) => ({ ...one, message: discreet(one.message.replace(quoted, '')) }))
      // The validator's own errors may have the value in any member.
      return { ok: false, issues, cause: issues }
    }
    const verdict = check(given)
    return verdict instanceof Promise ? verdict.then(settle) : settle(verdict)
  }
}

/** The same; throws the result of `unusable` for a schema that cannot be compiled. */
export const usableCheckOf = (schema: object, mode: Mode, unusable: (why: string) => Error): Check =>
  orFail(() => checkOf(schema, mode), unusable)

/** The same, compiled when the first value arrives: a script without any checks does not load a compiler. */
export function lazyCheckOf(schema: object, mode: Mode, unusable: (why: string) => Error): Check {
  let check: Check | undefined
  return (value) => {
    check ??= usableCheckOf(schema, mode, unusable)
    return check(value)
  }
}

/**
 * The value as its schema returns it.
 *
 * @throws (as a rejection) the result of `fail` for the first issue in words, with all issues as `issues`.
 */
export async function passed(verdict: Verdict | Promise<Verdict>, fail: (why: string) => Error): Promise<unknown> {
  const settled = await verdict
  if (settled.ok) return settled.value
  const { issues } = settled
  throw Object.assign(fail(`does not match its schema: ${firstInWords(issues)}`), { issues })
}
