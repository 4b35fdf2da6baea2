import { flattened, formerId, formerName, lostReference, targetOf } from '../../schema/flat.ts'
import {
  mapKeywords as anyMapKeywords,
  schemaKeywords as anySchemaKeywords,
  jsonTypes,
  listKeywords,
} from '../../schema/keywords.ts'
import { describeMarks, isIssued } from '../../schema/marks.ts'
import { nameOfAddress } from '../../schema/names.ts'
import { defined, isObject, type Json, mapMembers, put, toPlain } from '../../values/json.ts'
import { madeIn } from '../../values/memoize.ts'
import { safely } from '../../values/safely.ts'

/** A schema that may become a component of the document. */
export interface Part {
  /** The name of its component, if that name is free. */
  readonly name: string
  /** Its direction, where the schema of a validator differs for requests and responses. */
  readonly direction: 'input' | 'output' | undefined
  /** Whether it has a name of its own: then it is always a component. */
  isNamed: boolean
  /** Whether a reference refers to it: then it cannot be inlined. */
  isReferred: boolean
  /** How many places of the document use it. */
  uses: number
  /** The schema in JSON Schema 2020-12, with links instead of references. */
  body: unknown
}

/** Refers to something, with keywords that apply in addition to it. */
class Referral<To> {
  readonly to: To
  readonly beside: Json | undefined

  constructor(to: To, beside?: Json) {
    this.to = to
    this.beside = beside
  }
}

/** A place for a part. */
export class Link extends Referral<Part> {}

/** The address of a part as a string, for a discriminator. */
export class Address extends Referral<Part> {}

/** A reference to a component by a name that the application gives it: only at the end is it known whether that exists. */
export class NamedLink extends Referral<string> {}

const isText = (value: unknown) => typeof value === 'string'
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isFlag = (value: unknown) => typeof value === 'boolean'
const isPattern = (value: unknown) =>
  isText(value) && ['u', ''].some((flags) => safely(() => new RegExp(value as string, flags)) !== undefined)

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
const plainKeywords: { readonly [keyword: string]: Read } = {
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

/** Whether 2020-12 still has a keyword with schemas. */
const isCurrent = (keyword: string) => keyword !== 'additionalItems' && keyword !== 'dependencies'
const schemaKeywords: ReadonlySet<string> = new Set([...anySchemaKeywords].filter(isCurrent))
const mapKeywords: ReadonlySet<string> = new Set([...anyMapKeywords].filter(isCurrent))

/** Deeper schemas become parts of their own: a thousand levels must neither overflow the stack nor be lost. */
const maxDepth = 60
/** An object in more places of one schema than this becomes a part: if each place has two of the next, copying would never end. */
const maxCopies = 8

/** Receives what could not be described, and why. */
export type Note = (why: string) => void

/**
 * Translates one JSON Schema of any draft from 4 on into 2020-12, the dialect of OpenAPI 3.1. Its references become
 * links to parts.
 */
export class Translation {
  readonly #flat: unknown
  readonly #parts: Map<unknown, Part>
  readonly #shown: (node: Json) => Json
  readonly #note: Note
  readonly #root: Part
  readonly #open: { readonly node: unknown; readonly part: Part }[] = []
  readonly #copies = new Map<unknown, number>()

  constructor(root: unknown, part: Part, note: Note) {
    this.#flat = isObject(root) ? flattened(root).schema : root
    const isWritten = part.direction === undefined ? !isIssued(root as object) : part.direction === 'input'
    this.#shown = describeMarks(this.#flat, isWritten)
    this.#parts = new Map([[this.#flat, part]])
    this.#note = note
    this.#root = part
    this.#open.push({ node: this.#flat, part })
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      next.part.body = this.#schema(next.node, new Set(), next.node)
    }
  }

  /** A link to a part for a node; its name follows from its place. */
  #link(node: unknown, name: string, beside?: Json): Link {
    const part = madeIn(this.#parts, node, () => {
      const made = { name, direction: this.#root.direction, isNamed: false, isReferred: true, uses: 0, body: true }
      this.#open.push({ node, part: made })
      return made
    })
    part.isReferred = true
    return new Link(part, beside)
  }

  /** Translates a node; `start` is the node of the part itself, which stays in place. */
  #schema(node: unknown, around: ReadonlySet<unknown>, start?: unknown): unknown {
    if (typeof node === 'boolean') return node
    if (!isObject(node)) return this.#unknown('a part of it is not a schema')
    if (node !== start) {
      const id = idOf(node)
      if (id !== undefined) return this.#link(node, id)
      if (around.has(node) || around.size >= maxDepth || this.#isCopiedOften(node)) {
        return this.#link(node, typeof node.title === 'string' ? node.title : this.#root.name)
      }
    }
    const inside = new Set(around).add(node)
    const members = this.#members(node, inside)
    if (node.$ref === undefined && !(lostReference in node)) return members
    const target = this.#reference(node, members)
    return node.nullable === true && node.type === undefined ? { anyOf: [target, { type: 'null' }] } : target
  }

  #isCopiedOften(node: Json): boolean {
    const copies = (this.#copies.get(node) ?? 0) + 1
    this.#copies.set(node, copies)
    return copies > maxCopies && Object.values(node).some((value) => typeof value === 'object' && value !== null)
  }

  #unknown(why: string): Json {
    this.#note(why)
    return { description: `Not described: ${why}.` }
  }

  #reference(node: Json, beside: Json): unknown {
    const more = Object.keys(beside).length > 0 ? beside : undefined
    const target = targetOf(node.$ref, this.#flat)
    if (typeof target === 'boolean') return more === undefined ? target : { allOf: [target], ...more }
    if (isObject(target)) return this.#link(target, this.#nameOf(target), more)
    const ref = String((node as { [lostReference]?: string })[lostReference] ?? node.$ref)
    const component = /^#\/components\/schemas\/([\w.-]+)$/.exec(ref)?.[1]
    if (component !== undefined) return new NamedLink(component, more)
    return { ...more, ...this.#unknown(`the reference ${JSON.stringify(ref)} cannot be resolved`) }
  }

  #nameOf(node: Json & { readonly [formerName]?: string }): string {
    return idOf(node) ?? node[formerName] ?? this.#root.name
  }

  #members(node: Json, inside: ReadonlySet<unknown>): Json {
    const members = mapMembers(defined(modernised(this.#shown(node))), (value, keyword) =>
      this.#keyword(keyword, value, inside),
    )
    return this.#typed(node, members)
  }

  #keyword(keyword: string, value: unknown, inside: ReadonlySet<unknown>): unknown {
    if (schemaKeywords.has(keyword)) {
      return isObject(value) || typeof value === 'boolean' ? this.#schema(value, inside) : undefined
    }
    if (mapKeywords.has(keyword)) {
      return isObject(value) ? mapMembers(defined(value), (one) => this.#schema(one, inside)) : undefined
    }
    if (listKeywords.has(keyword)) {
      return Array.isArray(value) && value.length > 0 ? value.map((one) => this.#schema(one, inside)) : undefined
    }
    if (keyword === 'discriminator') return this.#discriminator(value)
    if (keyword.startsWith('x-')) return toPlain(value)
    if (!Object.hasOwn(plainKeywords, keyword)) return undefined
    const read = plainKeywords[keyword]!(value)
    if (read === undefined) this.#note(`"${keyword}" is not a valid one`)
    return read
  }

  /** Translates a discriminator. Its mapping refers to schemas by references that differ in the document; without one, names are enough. */
  #discriminator(value: unknown): unknown {
    if (!isObject(value) || typeof value.propertyName !== 'string') return undefined
    const mapping = mapMembers(isObject(value.mapping) ? value.mapping : {}, (ref) => {
      const target = targetOf(ref, this.#flat)
      return isObject(target) ? new Address(this.#link(target, this.#nameOf(target)).to) : undefined
    })
    return { propertyName: value.propertyName, ...(Object.keys(mapping).length > 0 && { mapping }) }
  }

  #typed(node: Json, members: Json): Json {
    const { type, nullable } = node
    if (type === undefined) {
      if (nullable !== true || Object.keys(members).length === 0) return members
      return { anyOf: [members, { type: 'null' }] }
    }
    const given = [type].flat()
    if (given.includes('Date')) return { ...members, type: 'string', format: 'date-time' }
    const known = [...new Set(given)].filter((one) => jsonTypes.has(one))
    if (known.length < new Set(given).size || known.length === 0) {
      this.#note(`the type ${JSON.stringify(toPlain(type))} is not a JSON type`)
      if (known.length === 0) return { ...members, description: `Not described: the type is not a JSON type.` }
    }
    if (nullable === true && !known.includes('null')) known.push('null')
    return { type: known.length === 1 ? known[0] : known, ...members }
  }
}

/** The name that a part gives itself. */
function idOf(node: Json & { readonly [formerId]?: string }): string | undefined {
  const id = node[formerId]
  return id === undefined || id.startsWith('#') ? undefined : nameOfAddress(id)
}

/** Converts keywords of older drafts into those of 2020-12. */
function modernised(node: Json): Json {
  const modern: Json = { ...node }
  if (Array.isArray(node.items) && node.prefixItems === undefined) {
    modern.prefixItems = node.items
    modern.items = node.additionalItems
  }
  for (const [name, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof node[name] !== 'boolean') continue
    modern[name] = node[name] ? node[limit] : undefined
    if (node[name]) modern[limit] = undefined
  }
  if (isObject(node.dependencies)) {
    const required: Json = isObject(node.dependentRequired) ? { ...node.dependentRequired } : {}
    const schemas: Json = isObject(node.dependentSchemas) ? { ...node.dependentSchemas } : {}
    for (const [name, value] of Object.entries(node.dependencies)) {
      put(Array.isArray(value) ? required : schemas, name, value)
    }
    if (Object.keys(required).length > 0) modern.dependentRequired = required
    if (Object.keys(schemas).length > 0) modern.dependentSchemas = schemas
  }
  return modern
}
