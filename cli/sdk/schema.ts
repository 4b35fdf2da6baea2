import { pointed } from '../../plugins/shared/schema/names.ts'
import { type ApiDocument, resolve, type Schema, sorted } from './document.ts'
import { assign, pascal } from './names.ts'
import { comment, grouped, intersection, key, literal, tags, union } from './printer.ts'

/**
 * The direction of a value. A client may omit values for which the server has a default; in a query and a form, a value may be a
 * Date, and in a form, a Blob. `output` is for responses.
 */
export type Direction = 'input' | 'query' | 'form' | 'output'

/** The types of scalars other than strings. */
const scalars = new Map(Object.entries({ number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }))

/** The maximum depth, deeper than any handwritten schema; deeper parts are `unknown`. */
const maxDepth = 64

/** Prints the schemas of one document as types. */
export class SchemaPrinter {
  readonly #document: ApiDocument
  readonly #names: Map<string, string>
  readonly #inputNames: Map<string, string>
  readonly #endless: Set<string>
  readonly #used = new Map<string, { component: string; direction: Direction }>()

  /** `taken` are the names that the types of the components must not have; the components' names are added. */
  constructor(document: ApiDocument, taken: Set<string>) {
    this.#document = document
    const components = sorted(document.components?.schemas).map(([name]) => name)
    this.#names = assign(components, pascal, taken)
    this.#endless = new Set(components.filter((name) => this.#isEndless(name, [])))
    const differing = components.filter((name) => this.#fillsIn(this.#component(name), new Set()))
    this.#inputNames = assign(differing, (name) => `${this.#names.get(name)}Input`, taken)
  }

  /** The declarations of the components that the printed types refer to, directly or through other components. */
  declarations(): string {
    const written: Record<string, string> = {}
    // Printing one component may be the first reference to another, which the iteration of a Map then reaches as well.
    for (const [name, { component, direction }] of this.#used)
      written[name] = this.#declaration(component, name, direction)
    return sorted(written)
      .map(([, declaration]) => declaration)
      .join('\n')
  }

  /** The type of a schema, on as many lines as it needs. */
  type(schema: Schema | undefined, direction: Direction, indent = '', depth = 0): string {
    if (schema === false) return 'never'
    if (typeof schema !== 'object' || schema === null || depth > maxDepth) return 'unknown'
    const print = (one: Schema) => this.type(one, direction, indent, depth + 1)
    const all = [
      // Keywords next to a reference also apply.
      ...(schema.$ref === undefined ? [] : [this.#reference(schema.$ref, direction, indent, depth)]),
      this.#own(schema, direction, indent, depth),
      ...(schema.allOf ?? []).map(print),
      ...[schema.anyOf, schema.oneOf].flatMap((list) => (list?.length ? [union(list.map(print))] : [])),
    ]
    return schema.nullable === true ? union([intersection(all), 'null']) : intersection(all)
  }

  #declaration(component: string, name: string, direction: Direction): string {
    const schema = this.#component(component)!
    const type = this.#endless.has(component) ? 'unknown' : this.type(schema, direction)
    const doc = comment(docOf(schema), '')
    // An interface may refer to itself and shows its name in messages; an alias is used for the rest.
    if (/^\{\n[\s\S]*\n\}$/.test(type) && isPlainObject(schema)) return `${doc}export interface ${name} ${type}\n`
    return `${doc}export type ${name} = ${type}\n`
  }

  /** The type of a schema by itself, without its combinations; `unknown` if it has none. */
  #own(schema: Exclude<Schema, boolean>, direction: Direction, indent: string, depth: number): string {
    if ('const' in schema) return literal(schema.const)
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literal))
    const isArray = schema.items !== undefined || schema.prefixItems !== undefined
    const implied = schema.properties !== undefined ? 'object' : isArray ? 'array' : 'unknown'
    const types = [schema.type ?? implied].flat()
    return union(types.map((one) => this.#typed(one, schema, direction, indent, depth)))
  }

  #typed(type: string, schema: Exclude<Schema, boolean>, direction: Direction, indent: string, depth: number): string {
    if (type === 'array') return this.#array(schema, direction, indent, depth)
    if (type === 'object') return this.#object(schema, direction, indent, depth)
    if (type !== 'string') return scalars.get(type) ?? 'unknown'
    if (direction === 'form' && schema.format === 'binary') return 'Blob'
    const isWritten = direction === 'form' || direction === 'query'
    return isWritten && schema.format === 'date-time' ? 'string | Date' : 'string'
  }

  #reference(reference: string, direction: Direction, indent: string, depth: number): string {
    const component = componentOf(reference)
    // A component has no separate form for multipart bodies. In a reference into the middle of a schema, a cycle ends at the maximum depth.
    if (component === undefined || !this.#names.has(component) || direction === 'form')
      return this.type(resolve(this.#document, reference) as Schema | undefined, direction, indent, depth + 16)
    const input = direction !== 'output' ? this.#inputNames.get(component) : undefined
    const printed = input ?? this.#names.get(component)!
    this.#used.set(printed, { component, direction: input === undefined ? 'output' : 'input' })
    return printed
  }

  #array(schema: Exclude<Schema, boolean>, direction: Direction, indent: string, depth: number): string {
    const print = (one: Schema | undefined) => this.type(one, direction, indent, depth + 1)
    const { prefixItems, items, minItems = 0 } = schema
    if (prefixItems === undefined || prefixItems.length === 0)
      return items === false ? '[]' : `${grouped(print(items))}[]`
    const places = prefixItems.map((one, at) => (at < minItems ? print(one) : `${grouped(print(one))}?`))
    if (items !== false) places.push(`...${grouped(print(items))}[]`)
    return `[${places.join(', ')}]`
  }

  #object(schema: Exclude<Schema, boolean>, direction: Direction, indent: string, depth: number): string {
    const inner = `${indent}  `
    const required = new Set(schema.required)
    const members = sorted(schema.properties).map(([name, property]) => {
      const isOptional = !required.has(name) || (direction !== 'output' && hasDefault(property))
      const type = this.type(property, direction, inner, depth + 1)
      const written = isOptional && direction !== 'output' ? union([type, 'undefined']) : type
      return `${comment(docOf(property), inner)}${inner}${key(name)}${isOptional ? '?' : ''}: ${written}`
    })
    const others = [schema.additionalProperties, ...Object.values(schema.patternProperties ?? {})].filter(
      (one) => one !== undefined && one !== false,
    )
    const named = new Set(Object.keys(schema.properties ?? {}))
    for (const name of [...required].filter((one) => !named.has(one)).sort())
      members.push(`${inner}${key(name)}: unknown`)
    if (members.length === 0) {
      if (schema.additionalProperties === false && others.length === 0) return 'Record<string, never>'
      const values =
        others.length === 0 ? 'unknown' : union(others.map((one) => this.type(one, direction, indent, depth + 1)))
      return `{ [name: string]: ${values} }`
    }
    // Named members must also have the index signature's type, so it cannot restrict the others.
    const isOpenForm = direction === 'form' && schema.additionalProperties !== false
    if (others.length > 0 || isOpenForm) members.push(`${inner}[name: string]: unknown`)
    return `{\n${members.join('\n')}\n${indent}}`
  }

  #component(name: string): Schema | undefined {
    return this.#document.components?.schemas?.[name] as Schema | undefined
  }

  /** Whether a component refers only to itself, such as `A = A | null`, which compilers refuse. */
  #isEndless(component: string, path: readonly string[]): boolean {
    if (path.includes(component)) return path[0] === component
    const below = [...path, component]
    const walk = (one: Schema | undefined, depth: number): boolean => {
      if (typeof one !== 'object' || one === null || depth > maxDepth) return false
      const name = componentOf(one.$ref)
      const isBack =
        name !== undefined && this.#names.has(name)
          ? this.#isEndless(name, below)
          : one.$ref !== undefined && walk(resolve(this.#document, one.$ref) as Schema | undefined, depth + 16)
      return isBack || [one.allOf, one.anyOf, one.oneOf].some((list) => list?.some((part) => walk(part, depth + 1)))
    }
    return walk(this.#component(component), 0)
  }

  /** Whether the server fills in a default below, so that input and output differ. */
  #fillsIn(schema: Schema | undefined, seen: Set<unknown>): boolean {
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false
    seen.add(schema)
    const required = new Set(schema.required)
    const properties = Object.entries(schema.properties ?? {})
    // The type of an optional member includes `undefined` where it is sent.
    if (properties.some(([name, one]) => required.has(name) && hasDefault(one))) return true
    const below = [
      ...properties.map(([, one]) => one),
      ...[schema.allOf, schema.anyOf, schema.oneOf, schema.prefixItems].flatMap((list) => list ?? []),
      ...Object.values(schema.patternProperties ?? {}),
      schema.items,
      schema.additionalProperties,
    ]
    if (schema.$ref !== undefined) below.push(resolve(this.#document, schema.$ref) as Schema | undefined)
    return below.some((one) => this.#fillsIn(one, seen))
  }
}

/** The component that a reference refers to as a whole. */
function componentOf(reference: string | undefined): string | undefined {
  const name = /^#\/components\/schemas\/([^/]+)$/s.exec(reference ?? '')?.[1]
  return name === undefined ? undefined : pointed(name)
}

export const hasDefault = (schema: Schema): boolean =>
  typeof schema === 'object' && schema !== null && schema.default !== undefined

const isPlainObject = (schema: Schema) =>
  typeof schema === 'object' &&
  !Array.isArray(schema.type) &&
  !(['allOf', 'anyOf', 'oneOf', 'enum', '$ref'] as const).some((keyword) => schema[keyword])

export function docOf(schema: Schema): (string | undefined)[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { description, deprecated } = schema
  const given = typeof description === 'string' ? description : undefined
  return deprecated === true ? [given, tags.deprecated] : [given]
}
