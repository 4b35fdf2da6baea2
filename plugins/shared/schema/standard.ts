import { isPromise } from '../../../kernel/support/within.ts'
import { safely } from '../values/safely.ts'
import { flattened, targetOf } from './flat.ts'
import { isObject } from './keywords.ts'
import { type Direction, selfDescription } from './self-description.ts'
import {
  type Check,
  type Issue,
  type Mode,
  maxIssues,
  pointerOf,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  type Verdict,
} from './verdict.ts'
import { validatorOf } from './zod.ts'

export type { StandardSchema } from './verdict.ts'

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false
  const standard = (schema as Partial<StandardSchema>)['~standard']
  return typeof standard === 'object' && standard !== null && typeof standard.validate === 'function'
}

/** The members of a validator's rule that may be reported. Never `input` or `received`: they would repeat the value. */
const ruleMembers = ['expected', 'format', 'origin', 'minimum', 'maximum', 'inclusive', 'divisor', 'values'] as const

/** The keys that lead to a mistake. */
export function pathOf({ path = [] }: StandardIssue): PropertyKey[] {
  const given = typeof path === 'string' ? path.split('.') : path
  return given.map((part) => (typeof part === 'object' ? part.key : part))
}

/** Whether a path leads to a member that an object does not have. */
function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  if (path.length === 0) return false
  const parent = path.slice(0, -1).reduce((of, key) => (of as Record<PropertyKey, unknown> | undefined)?.[key], value)
  return isObject(parent) && (parent as Record<PropertyKey, unknown>)[path.at(-1)!] === undefined
}

function issuesOf(issue: StandardIssue, value: unknown): Issue[] {
  const own = issue as StandardIssue & Readonly<Record<string, unknown>>
  const path = pathOf(issue)
  // Each library has names of its own; the most frequent mistake has the same one in all, for messages that are chosen by it.
  const names = [isMissing(value, path) ? 'required' : undefined, own.code, own.type, own.rule, 'invalid']
  const keyword = names.find((name) => typeof name === 'string') as string
  const params: Record<string, unknown> = {}
  for (const name of ruleMembers) if (own[name] !== undefined) params[name] = own[name]
  // Zod reports all unknown members of an object as one issue of the object.
  const unknown = own.code === 'unrecognized_keys' && Array.isArray(own.keys) ? (own.keys as string[]) : undefined
  const paths = unknown?.map((key) => [...path, key]) ?? [path]
  return paths.map((one) => ({ path: pointerOf(one), keyword, message: issue.message, params }))
}

function verdictOf(result: StandardResult<unknown>, value: unknown): Verdict {
  if (result.issues === undefined) return { ok: true, value: result.value }
  const issues = result.issues.slice(0, maxIssues).flatMap((one) => issuesOf(one, value))
  return { ok: false, issues: issues.slice(0, maxIssues), cause: result.issues }
}

/** Runs the schema's own validator; its result replaces the value. A value that is sent may have to be checked synchronously. */
export function standardCheck(schema: StandardSchema, mode: Mode): Check {
  const validate = validatorOf(schema, mode !== 'exact')
  return (value) => {
    const result = validate(value)
    return isPromise(result) ? Promise.resolve(result).then((late) => verdictOf(late, value)) : verdictOf(result, value)
  }
}

/** The keys of an object schema whose values must be lists; empty if the schema does not show them. */
export function standardLists(schema: StandardSchema): readonly string[] {
  return safely(() => {
    const root = flattened(selfDescription(schema, 'input') as object).schema
    // A schema that contains itself is described with a reference.
    const follow = (node: unknown): unknown =>
      isObject(node) && node.$ref !== undefined ? follow(targetOf(node.$ref, root)) : node
    const { properties } = follow(root) as { readonly properties?: object }
    return Object.entries(properties ?? {}).flatMap(([key, one]) => (isList(one, follow) ? [key] : []))
    // Otherwise the schema has no form in JSON Schema.
  }, [])
}

function isList(schema: unknown, follow: (node: unknown) => unknown): boolean {
  const node = follow(schema)
  if (!isObject(node)) return false
  if (!Array.isArray(node.anyOf)) return node.type === 'array'
  const kinds = node.anyOf.filter((one) => !isObject(one) || one.type !== 'null')
  return kinds.length > 0 && kinds.every((one) => isList(one, follow))
}

/** A schema as JSON Schema, or why there is none. */
type Source = { readonly schema: unknown } | { readonly why: string }

/** The JSON Schema for a schema of any kind; for a Standard Schema, it comes from the schema's own method. */
export function jsonSchemaOf(schema: unknown, direction: Direction): Source {
  if (typeof schema === 'boolean') return { schema }
  if (!isStandardSchema(schema)) return isObject(schema) ? { schema } : { why: 'it is not a schema' }
  try {
    return { schema: selfDescription(schema, direction) }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}
