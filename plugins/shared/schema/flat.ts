import { mapMembers, put } from '../values/json.ts'
import { madeIn } from '../values/memoize.ts'
import { changeSchemas, definitionKeywords, inPlaceKeywords, isObject, type Node, schemasWithin } from './keywords.ts'
import { freeName, nameOfAddress, nameOfReference, plainName } from './names.ts'
import { type Place, Places, type Target } from './places.ts'

type Json = { [keyword: string | symbol]: unknown }

/** The `$id` that a part of a flat schema had. */
export const formerId = Symbol('$id')
/** The original name of a definition of a flat schema, if it had one. */
export const formerName = Symbol('name')
/** The reference of a part that cannot be resolved. */
export const lostReference = Symbol('reference')

/**
 * A JSON Schema whose references are all `#` or `#/$defs/name`, whatever they were before: addresses, anchors, pointers into
 * the middle, relative to an `$id`, or dynamic. So validators, writers of responses and descriptions cannot
 * interpret a reference differently, and no part of one schema is visible in another.
 */
export interface Flat {
  readonly schema: Node
  /** Why no value can be checked with this schema; `undefined` if values can. */
  readonly problem: string | undefined
}

export interface FlatOptions {
  /** Whether the names of its members are put in lower case, for headers; members of members keep their names. */
  readonly lowerCaseNames?: boolean
}

const known = [new WeakMap<object, Flat>(), new WeakMap<object, Flat>()] as const

export const flattened = (schema: object, { lowerCaseNames = false }: FlatOptions = {}): Flat =>
  madeIn(known[lowerCaseNames ? 1 : 0], schema, () => new Flattening(schema as Node, lowerCaseNames).flat())

const prefix = '#/$defs/'

/** The target of a reference in a flat schema; `undefined` for a reference that leads out of it. */
export function targetOf(ref: unknown, root: unknown): unknown {
  if (ref === '#') return root
  if (typeof ref !== 'string' || !ref.startsWith(prefix) || !isObject(root) || !isObject(root.$defs)) return undefined
  const name = ref.slice(prefix.length)
  return Object.hasOwn(root.$defs, name) ? root.$defs[name] : undefined
}

/** The schemas to which one in a flat schema leads directly: those within it, and the target of its reference. */
export function* nextOf(node: Node, root: unknown): Iterable<readonly [keyword: string, schema: Node]> {
  yield* schemasWithin(node)
  const target = targetOf(node.$ref, root)
  if (isObject(target)) yield ['$ref', target]
}

/** All schemas to which some lead, including themselves. Without a root, references are not followed. */
export function reachedFrom(start: readonly unknown[], root?: Node, leads = (_keyword: string) => true): Set<Node> {
  const nodes = new Set(start.filter(isObject))
  for (const node of nodes) for (const [keyword, one] of nextOf(node, root)) if (leads(keyword)) nodes.add(one)
  return nodes
}

/** All schemas in a flat one, or in a part of it, including itself. */
export const schemasOf = (start: Node, root = start): ReadonlySet<Node> => reachedFrom([start], root)

const isInPlace = (keyword: string) => keyword === '$ref' || inPlaceKeywords.has(keyword)

/** All schemas for one value: those in its combinations, whichever applies, and those that it refers to. */
export const inPlaceOf = (start: readonly unknown[], root: Node): Set<Node> => reachedFrom(start, root, isInPlace)

/** Whether a reference is to a schema that the validator itself knows. */
const isMetaSchema = (ref: string) => /^https?:\/\/json-schema\.org\/draft/.test(ref)

/** References whose target depends on the value's way there. No library writes them. */
const dynamic: ReadonlySet<string> = new Set(['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$recursiveAnchor'])

/** A place that is being copied. */
interface Copy {
  readonly place: Place
  readonly isLower: boolean
  readonly json: Json
}

class Flattening {
  readonly #places: Places
  readonly #copies = [new Map<Place, Copy>(), new Map<Place, Copy>()] as const
  readonly #open: Copy[] = []
  readonly #definitions: Json = {}
  readonly #written = new Map<unknown, string>()
  readonly #root: Json
  #problem: string | undefined

  constructor(schema: Node, isLower: boolean) {
    this.#places = new Places(schema)
    this.#root = this.#copy(this.#places.root, isLower)
    this.#written.set(this.#root, '#')
  }

  flat(): Flat {
    // Not recursive: deep nesting must not overflow the stack.
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) this.#fill(next)
    if (Object.keys(this.#definitions).length > 0) this.#root.$defs = this.#definitions
    const schema = this.#root as Node
    return { schema, problem: this.#problem ?? (isEndless(schema) ? endless : undefined) }
  }

  #copy(place: Place, isLower: boolean): Json {
    const { json } = madeIn(this.#copies[isLower ? 1 : 0], place, () => {
      const copy: Copy = { place, isLower, json: {} }
      this.#open.push(copy)
      return copy
    })
    return json
  }

  #fill(copy: Copy): void {
    const { place, isLower, json } = copy
    for (const [keyword, value] of Object.entries(place.node)) {
      if (definitionKeywords.has(keyword) && isObject(value)) continue
      if (keyword === '$anchor' && value !== undefined) continue
      if (dynamic.has(keyword) && value !== undefined) {
        this.#problem ??= `${keyword} is not supported. Use $ref`
      } else if (keyword === '$id' && typeof value === 'string') json[formerId] = value
      else if (keyword === '$ref' && typeof value === 'string') Object.assign(json, this.#reference(copy, value))
      else put(json, keyword, this.#value(copy, keyword, value))
    }
    if (isLower) lowerNames(json)
  }

  #value({ place, isLower }: Copy, keyword: string, value: unknown): unknown {
    const isLowerWithin = isLower && inPlaceKeywords.has(keyword)
    const inside = (one: unknown) =>
      isObject(one) ? this.#copy(this.#places.within(one, place.scope), isLowerWithin) : one
    if (keyword !== 'discriminator' || !isObject(value) || !isObject(value.mapping))
      return changeSchemas(keyword, value, inside)
    const mapping = mapMembers(value.mapping, (ref) => {
      const target = typeof ref === 'string' ? this.#find(place, ref) : undefined
      return target === undefined || typeof target === 'string' ? ref : this.#write(target, String(ref), false)
    })
    return { ...value, mapping }
  }

  #reference({ place, isLower }: Copy, ref: string): Json {
    const target = this.#find(place, ref)
    if (target !== undefined && typeof target !== 'string') {
      // Code that fills in defaults looks for them where a member is named.
      const fallback = typeof target === 'boolean' || 'default' in place.node ? undefined : this.#defaultOf(target)
      return { $ref: this.#write(target, ref, isLower), ...(fallback !== undefined && { default: fallback }) }
    }
    if (isMetaSchema(ref)) return { $ref: ref }
    this.#problem ??= target ?? `the reference ${JSON.stringify(ref)} cannot be resolved`
    return { [lostReference]: ref }
  }

  #defaultOf(start: Place): unknown {
    let place: Target | string | undefined = start
    for (let hops = 0; typeof place === 'object' && hops < 20; hops++) {
      if (place.node.default !== undefined) return place.node.default
      place = typeof place.node.$ref === 'string' ? this.#find(place, place.node.$ref) : undefined
    }
    return undefined
  }

  /** The target of a reference; a string explains why there is no definite one. */
  #find(place: Place, ref: string): Target | string | undefined {
    try {
      return this.#places.resolve(ref, place)
    } catch (error) {
      return (error as Error).message
    }
  }

  #write(target: Target, ref: string, isLower: boolean): string {
    const schema = typeof target === 'boolean' ? target : this.#copy(target, isLower)
    const there = this.#written.get(schema)
    if (there !== undefined) return there
    const id = typeof target === 'boolean' ? undefined : target.node.$id
    const name = typeof id === 'string' ? nameOfAddress(id) : nameOfReference(ref)
    const key = freeName(plainName(name ?? ''), (one) => Object.hasOwn(this.#definitions, one))
    if (typeof schema === 'object' && name !== undefined) schema[formerName] = name
    this.#definitions[key] = schema
    this.#written.set(schema, prefix + key)
    return prefix + key
  }
}

/** Puts names in lower case: header names are case-insensitive. */
function lowerNames(json: Json): void {
  for (const keyword of ['properties', 'dependentSchemas', 'dependentRequired', 'dependencies']) {
    const map = json[keyword]
    if (!isObject(map)) continue
    json[keyword] = Object.fromEntries(Object.entries(map).map(([name, one]) => [name.toLowerCase(), lowerList(one)]))
  }
  json.required &&= lowerList(json.required)
}

const lowerList = (value: unknown) =>
  Array.isArray(value) ? value.map((name) => (typeof name === 'string' ? name.toLowerCase() : name)) : value

const endless = 'a reference points to itself, so no value can be checked'

/** Whether a part of a schema leads back to itself for one and the same value. */
function isEndless(root: Node): boolean {
  const done = new Set<unknown>()
  const inWork = new Set<unknown>()
  for (const start of schemasOf(root)) {
    const open = [start]
    for (let node = open.at(-1); node !== undefined; node = open.at(-1)) {
      if (done.has(node) || inWork.has(node)) {
        open.pop()
        if (inWork.delete(node)) done.add(node)
        continue
      }
      inWork.add(node)
      for (const [keyword, one] of nextOf(node, root)) {
        if (!isInPlace(keyword)) continue
        if (inWork.has(one)) return true
        if (!done.has(one)) open.push(one)
      }
    }
  }
  return false
}
