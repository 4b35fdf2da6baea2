import type { ErrorObject, ValidateFunction } from 'ajv'
import { flattened, schemasOf } from '../flat.ts'
import { isObject, modernKeywords, type Node } from '../keywords.ts'
import { type Check, type Issue, type Mode, maxIssues, pointerOf, type Verdict } from '../verdict.ts'
import { checkSchema, compileWithAjv, type Dialect, type Draft } from './ajv.ts'
import { BudgetExceeded, beginBudget, budget, endBudget } from './budget.ts'

function draftOf({ $schema }: Node, nodes: ReadonlySet<Node>): Draft {
  if (typeof $schema === 'string') return (/2019-09|2020-12/.exec($schema)?.[0] as Draft | undefined) ?? 'draft-07'
  const list = [...nodes]
  if (!list.some((node) => modernKeywords.some((keyword) => keyword in node))) return 'draft-07'
  // In 2020-12, `items` cannot be a list.
  return list.some((node) => Array.isArray(node.items)) ? '2019-09' : '2020-12'
}

/** Whether a schema names a member that every object inherits. */
function namesInherited({ properties, required, ...node }: Node): boolean {
  const maps = [properties, node.dependentRequired, node.dependentSchemas, node.dependencies].filter(isObject)
  const names = [...maps.flatMap(Object.keys), ...maps.flatMap(Object.values), ...[required]].flat()
  return names.some((name) => typeof name === 'string' && name in Object.prototype)
}

/** The parameters in which Ajv names the member that is missing or unknown; the path of its error is that of the object. */
const memberParams = ['missingProperty', 'additionalProperty', 'unevaluatedProperty', 'propertyName']

function issueOf({ instancePath, keyword, message, params }: ErrorObject): Issue {
  const members = memberParams.flatMap((name) => (typeof params[name] === 'string' ? [params[name]] : []))
  const path = instancePath + pointerOf(members)
  return { path, keyword, message: message ?? 'is not valid', params: params as Record<string, unknown> }
}

/** The verdict for a value that cannot be checked completely. */
const unchecked = (keyword: string, message: string): Verdict => {
  const issues = [{ path: '', keyword, message, params: {} }]
  return { ok: false, issues, cause: issues }
}

/** The verdict for a value that was refused for an unknown reason. */
const invalid = () => unchecked('invalid', 'is not valid')

/** Why a check did not finish; any other error is thrown again. */
function unfinished(error: unknown): Verdict {
  if (error instanceof BudgetExceeded) return unchecked('effort', 'takes too much work to check')
  // The stack has overflowed.
  if (error instanceof RangeError) return unchecked('depth', 'is nested too deeply')
  throw error
}

/**
 * Compiles a JSON Schema (such as those of TypeBox) with Ajv.
 *
 * @throws the error of Ajv for an invalid schema.
 */
export function compileJsonSchema(schema: object, mode: Mode): Check {
  if ((schema as Node).$async === true) throw new TypeError('a JSON Schema with $async is not supported')
  const flat = flattened(schema, { lowerCaseNames: mode === 'headers' })
  const nodes = schemasOf(flat.schema)
  const draft = draftOf(schema as Node, nodes)
  checkSchema(schema, draft)
  if (flat.problem !== undefined) throw new TypeError(flat.problem)
  const dialect = { mode, draft, ownProperties: [...nodes].some(namesInherited) }
  const validate = compileWithAjv(flat.schema, { ...dialect, allErrors: false })
  const explain = explainer(flat.schema, dialect)
  return (value): Verdict => {
    beginBudget(value)
    try {
      return validate(value) ? { ok: true, value } : explain(value)
    } catch (error) {
      return unfinished(error)
    } finally {
      endBudget()
    }
  }
}

/**
 * Finds the mistakes in a value that was refused. The refusal itself comes from an earlier check that ends at
 * the first error: with all errors, each branch of a union would be checked completely, which takes twice as long for
 * each level of a tree. It is compiled at the first refusal: most schemas of a process never refuse a value.
 */
function explainer(schema: Node, dialect: Omit<Dialect, 'allErrors'>): (value: unknown) => Verdict {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= compileWithAjv(schema, { ...dialect, allErrors: true })
    beginBudget(value)
    budget.undo(0)
    try {
      // The first check may have filled in a member that a branch of a union requires, after another branch had failed for lack of it.
      if (validate(value)) return invalid()
    } catch (error) {
      // Ajv's own code fails when it collects all errors: with `unevaluatedProperties` in a union next to `patternProperties`.
      if (error instanceof TypeError) return invalid()
      throw error
    }
    const errors = (validate.errors ?? []).slice(0, maxIssues)
    return { ok: false, issues: errors.map(issueOf), cause: errors }
  }
}
