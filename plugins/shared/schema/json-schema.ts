import type { ErrorObject } from 'ajv'
import { compileWithAjv } from './ajv.ts'
import type { Check, Mode, Verdict } from './check.ts'
import { type Issue, maxIssues } from './issue.ts'

type Json = { readonly [keyword: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords that only JSON Schema 2019-09 and later have. */
const modernKeywords = new Set(['prefixItems', 'unevaluatedProperties', 'unevaluatedItems', 'dependentRequired'])

/** A name that every object has, as a key or in a list of required ones. */
const inherited = new RegExp(`"(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})"`)

/** Whether any object within has such a key. */
function hasKey(value: unknown, test: (key: string) => boolean, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > 64) return false
  if (Array.isArray(value)) return value.some((one) => hasKey(one, test, depth + 1))
  return Object.entries(value).some(([key, one]) => test(key) || hasKey(one, test, depth + 1))
}

function isModern(schema: Json): boolean {
  const { $schema } = schema
  if (typeof $schema === 'string') return /2019-09|2020-12/.test($schema)
  return hasKey(schema, (key) => modernKeywords.has(key))
}

/** Header names are compared without regard to case: the schema's are taken in lower case. */
function withLowerCaseNames(schema: Json): Json {
  const lower: Record<string, unknown> = { ...schema }
  if (isObject(schema.properties)) {
    lower.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, one]) => [name.toLowerCase(), one]),
    )
  }
  if (Array.isArray(schema.required)) lower.required = schema.required.map((name) => String(name).toLowerCase())
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const list = schema[keyword]
    if (Array.isArray(list)) lower[keyword] = list.map((one) => (isObject(one) ? withLowerCaseNames(one) : one))
  }
  return lower
}

/** The top-level keys that a schema names, also in its combinations and behind local references. */
export function jsonSchemaKeys(schema: object): string[] {
  const keys = new Set<string>()
  const seen = new Set<unknown>()
  const visit = (one: unknown): void => {
    if (!isObject(one) || seen.has(one)) return
    seen.add(one)
    if (isObject(one.properties)) for (const key of Object.keys(one.properties)) keys.add(key)
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const list = one[keyword]
      if (Array.isArray(list)) list.forEach(visit)
    }
    if (typeof one.$ref === 'string' && one.$ref.startsWith('#')) visit(resolvePointer(schema, one.$ref.slice(1)))
  }
  visit(schema)
  return [...keys]
}

/** The part of a schema that a JSON pointer leads to. */
export function resolvePointer(root: unknown, pointer: string): unknown {
  let at: unknown = root
  for (const part of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

function issueOf({ instancePath, keyword, message, params }: ErrorObject): Issue {
  return { path: instancePath, keyword, message: message ?? 'is not valid', params: params as Record<string, unknown> }
}

/**
 * Compiles a JSON Schema (TypeBox makes them too) with Ajv.
 *
 * @throws what Ajv says of a schema that is none.
 */
export function compileJsonSchema(schema: object, mode: Mode): Check {
  const json = schema as Json
  if (json.$async === true) throw new TypeError('a JSON Schema with $async is not taken')
  const validate = compileWithAjv(mode === 'headers' ? withLowerCaseNames(json) : json, {
    mode,
    modern: isModern(json),
    ownProperties: inherited.test(JSON.stringify(json)),
  })
  return (value): Verdict => {
    if (validate(value)) return { ok: true, value }
    const errors = (validate.errors ?? []).filter((error) => error !== undefined).slice(0, maxIssues)
    return { ok: false, issues: errors.map(issueOf), cause: errors }
  }
}
