import { isAddress, isComponentName } from '../../shared/descriptions/names.ts'
import { definitionKeywords, listKeywords } from '../../shared/schema/keywords.ts'
import { defined, isObject, type Json, mapMembers, toPlain } from '../../shared/values/json.ts'

/** Reads a member of an OpenAPI object: returns its value for the document, `undefined` for an invalid one. */
type Read = (value: unknown) => unknown
export type Form = { readonly [member: string]: Read }

const text: Read = (value) => (typeof value === 'string' ? value : undefined)
const flag: Read = (value) => (typeof value === 'boolean' ? value : undefined)
const anything: Read = (value) => toPlain(value)
const url: Read = (value) => (isAddress(value) ? value : undefined)
const among =
  (...values: string[]): Read =>
  (value) =>
    values.includes(value as string) ? value : undefined
const texts: Read = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string') ? [...value] : undefined

const named =
  (form: Form): Read =>
  (value) => {
    if (!isObject(value)) return undefined
    return mapMembers(value, (one) => (isObject(one) ? formed(form, one) : undefined))
  }
const listed =
  (form: Form, needs: string): Read =>
  (value) => {
    if (!Array.isArray(value)) return undefined
    const items = value.filter(isObject).map((one) => formed(form, one))
    return items.length === value.length && items.every((one) => needs in one) ? items : undefined
  }

const example: Form = { summary: text, description: text, value: anything, externalValue: url }
const variable: Form = { default: text, enum: texts, description: text }
const server: Form = { url: text, description: text, variables: named(variable) }
const encoding: Form = { contentType: text, explode: flag, allowReserved: flag }

/** Names of security schemes with their scopes. */
const security: Read = (value) => {
  if (!Array.isArray(value)) return undefined
  const isRequirement = (one: unknown) =>
    isObject(one) && Object.entries(one).every(([name, scopes]) => isComponentName(name) && texts(scopes) !== undefined)
  return value.every(isRequirement) ? toPlain(value) : undefined
}

const externalDocs: Read = (value) => {
  const docs = isObject(value) ? formed({ url, description: text }, value) : {}
  return docs.url === undefined ? undefined : docs
}

/** The tags of options and of plugins, whose members are not checked before. */
export const tagsOf = listed({ name: text, description: text, externalDocs }, 'name')

/** The parts of an operation besides its schemas. */
export const operationForm: Form = {
  tags: texts,
  summary: text,
  description: text,
  deprecated: flag,
  externalDocs,
  servers: listed(server, 'url'),
  security,
}

const shown: Form = { example: anything, examples: named(example) }
const described: Form = { description: text, required: flag, deprecated: flag, ...shown }

/** Parameters, whose style depends on where they are. */
export const parameterForms: { readonly [place: string]: Form } = {
  path: { ...described, style: among('simple', 'label', 'matrix'), explode: flag },
  query: {
    ...described,
    style: among('form', 'spaceDelimited', 'pipeDelimited', 'deepObject'),
    explode: flag,
    allowReserved: flag,
    allowEmptyValue: flag,
  },
  header: { ...described, style: among('simple'), explode: flag },
  cookie: { ...described, style: among('form'), explode: flag },
}
export const headerForm: Form = parameterForms.header!
export const mediaForm: Form = { ...shown, encoding: named(encoding) }
export const bodyForm: Form = { description: text, required: flag }
export const linkForm: Form = {
  operationId: text,
  operationRef: url,
  description: text,
  parameters: (value) => (isObject(value) ? toPlain(value) : undefined),
  requestBody: anything,
}

/** The members that a form knows, each read by its own form, and those named `x-…`. */
export function formed(form: Form, given: Json): Json {
  const members = mapMembers(defined(given), (value, name) => {
    if (name.startsWith('x-')) return toPlain(value)
    return Object.hasOwn(form, name) ? form[name]!(value) : undefined
  })
  // Only one of these two is allowed.
  if (members.examples !== undefined) delete members.example
  if (members.value !== undefined) delete members.externalValue
  return members
}

/** Keywords that mark an object as a schema where it could also be an OpenAPI response. */
const ownMarks = ['type', 'properties', 'items', 'enum', 'const', '$id', '~standard']
const schemaMarks = [...ownMarks, ...listKeywords, ...definitionKeywords]
export const isSchema = (value: object) => schemaMarks.some((mark) => mark in value)
