import { nameOfAddress, nameOfReference, plainName } from '../schema/names.ts'
import type { Direction } from '../schema/self-description.ts'
import { jsonSchemaOf } from '../schema/standard.ts'
import { isObject, type Json, mapMembers, put } from '../values/json.ts'
import { madeIn } from '../values/memoize.ts'
import { hintOf, Names } from './names.ts'
import { Address, Link, NamedLink, type Note, type Part, Translation } from './schemas/translate.ts'

/** One set of equal parts. */
interface Component {
  readonly part: Part
  readonly name: string
}

/**
 * The schemas of one document. A schema becomes a component when it has a name (`$id`, a title), when references refer to
 * it, or when several places use it; otherwise it is inlined.
 */
export class Schemas {
  readonly #known = new Map<unknown, Map<Direction, Part>>()
  readonly #given = new Map<string, Part>()

  /** `given`: the schemas that the application names. */
  constructor(given: object = {}, note: Note) {
    for (const [name, schema] of Object.entries(given)) this.#give(name, schema, note)
  }

  /** Adds a component with a name that the application gives it: no other component can have that name. */
  #give(name: string, schema: unknown, note: Note): void {
    const part = this.#part(schema, 'output', name, note)
    const isAlias = [...this.#given.values()].includes(part)
    const given: Part = isAlias ? { ...part, isReferred: true, body: new Link(part) } : part
    given.isReferred = true
    this.#given.set(name, given)
  }

  /** A place for a schema of any kind. `hint` is its name if it needs one but has none; `note` receives parts that cannot be described. */
  use(schema: unknown, direction: Direction, hint: string, note: Note): unknown {
    const part = this.#part(schema, direction, hint, note)
    part.uses++
    return new Link(part)
  }

  /** The same for the schemas of one thing with this name: `what` says which of them it is, for its name and for notes. `look` is for reading. */
  of(id: string, note: Note) {
    const noted = (what: string) => (why: string) => note(`${what}: ${why}`)
    return {
      use: (schema: unknown, direction: Direction, what: string) =>
        this.use(schema, direction, hintOf(id, what), noted(what)),
      look: (schema: unknown, what: string) => this.#part(schema, 'input', hintOf(id, what), noted(what)).body,
    }
  }

  /** The translated schema itself, for reading its parts. */
  #part(schema: unknown, direction: Direction, hint: string, note: Note): Part {
    const source = jsonSchemaOf(schema, direction)
    // A schema that is not a validator is the same in both directions.
    const key = 'schema' in source && source.schema === schema ? 'input' : direction
    const known = madeIn(this.#known, schema, () => new Map<Direction, Part>())
    const there = known.get(key)
    if (there !== undefined) return there
    const json = 'schema' in source ? source.schema : undefined
    const name = nameOf(json)
    const part: Part = {
      name: name ?? hint,
      direction: json === schema ? undefined : direction,
      isNamed: name !== undefined,
      isReferred: false,
      uses: 0,
      body: true,
    }
    known.set(key, part)
    if ('why' in source) {
      note(source.why)
      part.body = { description: `Not described: ${source.why}.` }
    } else {
      new Translation(json, part, note)
    }
    return part
  }

  /** Replaces all links with the components and the references to them. */
  finish<Document extends object>(document: Document): { document: Document; schemas: Json } {
    const given = [...this.#given.values()].map((part) => new Link(part))
    const components = this.#components(reachable([given, document]).filter(isComponent))
    const known = new Set([...components.values()].map(({ name }) => name))
    const write = (value: unknown): unknown => {
      if (value instanceof Link) {
        const component = components.get(value.to)
        if (component === undefined) return write(value.to.body)
        return { ...reference(component.name), ...(write(value.beside) as Json | undefined) }
      }
      if (value instanceof NamedLink) {
        const beside = write(value.beside) as Json | undefined
        if (known.has(value.to)) return { ...reference(value.to), ...beside }
        return { ...beside, description: `Not described: there is no component "${value.to}".` }
      }
      if (value instanceof Address) return reference(components.get(value.to)!.name).$ref
      if (Array.isArray(value)) return value.map(write)
      return isObject(value) ? mapMembers(value, write) : value
    }
    const schemas: Json = {}
    for (const { part, name } of new Set(components.values())) put(schemas, name, write(part.body))
    return { document: write(document) as Document, schemas }
  }

  /** Makes one component for parts with the same name and content, even where they refer to each other. */
  #components(parts: readonly Part[]): Map<Part, Component> {
    const templates = new Map(parts.map((part) => [part, templateOf(part.body)]))
    const wanted = (part: Part) => plainName(part.name)
    let classes = new Map<Part, number>(numbered(parts, wanted))
    for (let count = -1; count !== countOf(classes); ) {
      count = countOf(classes)
      const before = classes
      classes = numbered(parts, (part) => {
        const { text, parts: inside } = templates.get(part)!
        return `${before.get(part)} ${inside.map((one) => before.get(one) ?? '-').join()} ${text}`
      })
    }
    const names = new Names(this.#given.keys())
    const ofClass = new Map<number, Component>()
    const components = new Map<Part, Component>()
    for (const [name, part] of this.#given) {
      components.set(part, { part, name })
      ofClass.set(classes.get(part)!, components.get(part)!)
    }
    for (const part of parts) {
      if (components.has(part)) continue
      const number = classes.get(part)!
      const component = ofClass.get(number) ?? { part, name: names.claim(wanted(part), suffixOf(part)) }
      ofClass.set(number, component)
      components.set(part, component)
    }
    return components
  }
}

/** The members that have members. */
export const nonEmpty = (kinds: Json): Json =>
  Object.fromEntries(Object.entries(kinds).filter(([, named]) => isObject(named) && Object.keys(named).length > 0))

const suffixOf = ({ direction }: Part) => (direction === undefined ? '' : direction === 'input' ? 'Input' : 'Output')
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const countOf = (classes: ReadonlyMap<Part, number>) => new Set(classes.values()).size

/** The name that a schema gives itself. */
function nameOf(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined
  if (typeof schema.$id === 'string') return nameOfAddress(schema.$id)
  if (typeof schema.$ref === 'string') return nameOfReference(schema.$ref)
  return typeof schema.title === 'string' && schema.title.trim() !== '' ? schema.title : undefined
}

function isComponent(part: Part): boolean {
  if (part.isReferred) return true
  // A schema that is only a reference is its target.
  if (part.body instanceof Link && part.body.beside === undefined) return false
  if (!part.isNamed && part.uses <= 1) return false
  // Strings, numbers and the like are shorter than a reference to them.
  return isObject(part.body) && Object.values(part.body).some((one) => isObject(one) || one instanceof Link)
}

/** Every part that a value refers to, in order of appearance. */
function reachable(document: unknown): Part[] {
  const parts = new Set<Part>()
  const open: unknown[] = [document]
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (next instanceof Link || next instanceof Address) {
      if (!parts.has(next.to)) {
        parts.add(next.to)
        open.push(next.to.body)
      }
      if (next.beside !== undefined) open.push(next.beside)
    } else if (next instanceof NamedLink) open.push(next.beside)
    else if (typeof next === 'object' && next !== null) open.push(...Object.values(next).reverse())
  }
  return [...parts]
}

/** A body as a string, with numbers instead of its links. */
function templateOf(body: unknown) {
  const parts: Part[] = []
  const text = JSON.stringify(body, (_name, value: unknown) => {
    if (value instanceof Link || value instanceof Address) {
      parts.push(value.to)
      return { '': parts.length, beside: value.beside }
    }
    return value
  })
  return { text, parts }
}

function numbered(parts: readonly Part[], key: (part: Part) => string): Map<Part, number> {
  const numbers = new Map<string, number>()
  const classes = new Map<Part, number>()
  for (const part of parts) {
    const text = key(part)
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    classes.set(part, number)
  }
  return classes
}
