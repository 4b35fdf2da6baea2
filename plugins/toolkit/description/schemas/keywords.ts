import { mapKeywords as anyMapKeywords, schemaKeywords as anySchemaKeywords } from '../../schema/keywords.ts'
import { isObject, toPlain } from '../json.ts'

const isText = (value: unknown) => typeof value === 'string'
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isFlag = (value: unknown) => typeof value === 'boolean'

/** Returns a value in the form that the keyword requires; `undefined` for an invalid one, whose keyword is left out. */
type Read = (value: unknown) => unknown

const only =
  (test: (value: unknown) => boolean): Read =>
  (value) =>
    test(value) ? value : undefined
const texts: Read = (value) => (isTexts(value) ? [...new Set(value)] : undefined)
const list: Read = (value) => (Array.isArray(value) ? toPlain(value) : undefined)

export const types: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
])

/** Keywords without schemas in them. Others have no meaning for readers of a description and are left out, except `x-…`. */
export const plainKeywords: { readonly [keyword: string]: Read } = {
  title: only(isText),
  description: only(isText),
  format: only(isText),
  pattern: only(isPattern),
  contentEncoding: only(isText),
  contentMediaType: only(isText),
  multipleOf: only((value) => Number.isFinite(value) && (value as number) > 0),
  minimum: only(Number.isFinite),
  maximum: only(Number.isFinite),
  exclusiveMinimum: only(Number.isFinite),
  exclusiveMaximum: only(Number.isFinite),
  minLength: only(isCount),
  maxLength: only(isCount),
  minItems: only(isCount),
  maxItems: only(isCount),
  minContains: only(isCount),
  maxContains: only(isCount),
  minProperties: only(isCount),
  maxProperties: only(isCount),
  uniqueItems: only(isFlag),
  readOnly: only(isFlag),
  writeOnly: only(isFlag),
  deprecated: only(isFlag),
  required: texts,
  dependentRequired: (value) => (isObject(value) && Object.values(value).every(isTexts) ? toPlain(value) : undefined),
  enum: list,
  examples: list,
  const: (value) => toPlain(value),
  default: (value) => toPlain(value),
  example: (value) => toPlain(value),
  xml: (value) => (isObject(value) ? toPlain(value) : undefined),
  externalDocs: (value) => (isObject(value) && isText(value.url) ? toPlain(value) : undefined),
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false
  for (const flags of ['u', '']) {
    try {
      new RegExp(value, flags)
      return true
    } catch {}
  }
  return false
}

/** Whether 2020-12 still has a keyword with schemas. */
const isCurrent = (keyword: string) => keyword !== 'additionalItems' && keyword !== 'dependencies'
export const schemaKeywords: ReadonlySet<string> = new Set([...anySchemaKeywords].filter(isCurrent))
export const mapKeywords: ReadonlySet<string> = new Set([...anyMapKeywords].filter(isCurrent))
