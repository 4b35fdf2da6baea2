import { mapKeywords as anyMapKeywords, schemaKeywords as anySchemaKeywords } from '../../schema/keywords.ts'
import { isObject, toPlain } from '../../values/json.ts'

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

/** The same reader for several keywords. */
const each = (read: Read, ...keywords: readonly string[]) => Object.fromEntries(keywords.map((one) => [one, read]))

/** Keywords without schemas in them. Others have no meaning for readers of a description and are left out, except `x-…`. */
export const plainKeywords: { readonly [keyword: string]: Read } = {
  ...each(only(isText), 'title', 'description', 'format'),
  pattern: only(isPattern),
  ...each(only(isText), 'contentEncoding', 'contentMediaType'),
  multipleOf: only((value) => Number.isFinite(value) && (value as number) > 0),
  ...each(only(Number.isFinite), 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...each(only(isCount), 'minLength', 'maxLength', 'minItems', 'maxItems'),
  ...each(only(isCount), 'minContains', 'maxContains', 'minProperties', 'maxProperties'),
  ...each(only(isFlag), 'uniqueItems', 'readOnly', 'writeOnly', 'deprecated'),
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
