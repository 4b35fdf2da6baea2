import { flattened } from '../shared/schema/flat.ts'
import { isObject, type Node } from '../shared/schema/keywords.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { compileShapes, itemsOf, referred, typesOf } from './checked-copy.ts'
import { Mismatch, once, remembering } from './mismatch.ts'
import { plain, scalars } from './scalars.ts'
import { helpers, type Shape, scalarTypes } from './writer-helpers.ts'

/**
 * The part of a mismatching value that may be sent: a scalar. It has no members, so none of them is outside the
 * schema; objects and arrays may have such members, and are left out.
 */
function scalarOf(value: unknown): unknown {
  const given = plain(value)
  if (given === null || typeof given === 'string' || typeof given === 'boolean') return given
  return Number.isFinite(given) ? given : undefined
}

/**
 * Picks the members of a JSON Schema from a value that does not match it; `undefined` if no part of it may be sent.
 *
 * It interprets the schema, since it runs only for wrong responses.
 */
export class LenientShape {
  readonly #root: Node
  readonly #strict: ReadonlyMap<unknown, Shape>
  readonly #pickers = new Map<unknown, Shape>()

  constructor(schema: object) {
    this.#root = flattened(schema).schema
    // Each level is checked strictly before members are picked from it: without a cache, all levels below would be checked repeatedly.
    this.#strict = new Map([...compileShapes(schema)].map(([node, shape]) => [node, once(shape)]))
  }

  pick(value: unknown): unknown {
    return remembering(() => this.#pick(this.#root, value))
  }

  #pick(node: unknown, value: unknown): unknown {
    return madeIn(this.#pickers, node, () => once((given) => this.#look(node, given)))(value)
  }

  #look(node: unknown, value: unknown): unknown {
    if (node === true) return value
    if (!isObject(node)) return undefined
    const types = typesOf(node)
    let picked = types.length === 0 ? value : this.#byTypes(types, node, value)
    const add = (more: unknown) => {
      picked = picked === undefined ? undefined : helpers.merge(picked, more, value)
    }
    if (node.$ref !== undefined) add(this.#pick(referred(node, this.#root), value))
    if (Array.isArray(node.allOf)) for (const one of node.allOf) add(this.#pick(one, value))
    for (const keyword of ['anyOf', 'oneOf']) {
      const list = node[keyword]
      if (Array.isArray(list)) add(this.#pickOne(list, value))
    }
    if (isObject(node.if)) {
      const branch = helpers.fits(value, this.#strictly(node.if)) ? node.then : node.else
      if (branch !== undefined) add(this.#pick(branch, value))
    }
    const isListed = 'const' in node || Array.isArray(node.enum)
    return isListed && !helpers.fits(value, this.#strictly(node)) ? scalarOf(value) : picked
  }

  /** The strict check, which responses pass first, for a part of the schema. */
  #strictly(node: unknown): Shape {
    return this.#strict.get(node) ?? (() => helpers.fail('is not allowed'))
  }

  /** Picks with the one schema that may apply: of two such schemas, one may name members that the other must not send. */
  #pickOne(list: unknown[], value: unknown): unknown {
    for (const one of list) {
      if (helpers.fits(value, this.#strictly(one))) return this.#strictly(one)(value)
    }
    const meant = list.filter((one) => this.#takesType(one, value))
    return meant.length === 1 ? this.#pick(meant[0], value) : scalarOf(value)
  }

  #takesType(node: unknown, value: unknown): boolean {
    if (!isObject(node)) return node === true
    const types = typesOf(node)
    if (types.length === 0 && node.$ref !== undefined) return this.#takesType(referred(node, this.#root), value)
    return types.length === 0 || types.includes(typeOf(value))
  }

  #byTypes(types: string[], node: Node, value: unknown): unknown {
    const given = plain(value)
    const name = typeOf(given)
    if (name === 'object' && types.includes('object')) return this.#object(node, given as Record<string, unknown>)
    if (name === 'array' && types.includes('array')) return this.#array(node, given as unknown[])
    const scalar = types.find((type) => scalarTypes.has(type)) as keyof typeof scalars | undefined
    if (scalar === undefined) return scalarOf(given)
    try {
      return scalars[scalar](value, typeof node.format === 'string' ? node.format : undefined)
    } catch (error) {
      if (error instanceof Mismatch) return scalarOf(given)
      throw error
    }
  }

  #object(node: Node, value: Record<string, unknown>): unknown {
    const properties = isObject(node.properties) ? node.properties : {}
    const picked = {}
    const take = (name: string, one: unknown, given: unknown) => {
      const part = given === undefined ? undefined : this.#pick(one, given)
      if (part !== undefined) helpers.put(picked, name, part)
    }
    for (const [name, one] of Object.entries(properties)) {
      const given = helpers.member(value, name)
      take(name, one, given === undefined && isObject(one) ? one.default : given)
    }
    const patterns = isObject(node.patternProperties) ? Object.entries(node.patternProperties) : []
    const rest = node.additionalProperties ?? false
    if (patterns.length === 0 && rest === false) return picked
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(properties, name)) continue
      const pattern = patterns.find(([one]) => new RegExp(one, 'u').test(name))
      const one = pattern === undefined ? rest : pattern[1]
      const given = value[name]
      // A member without a name of its own is recognised by its type: a scalar of another type is left out.
      if (typeOf(given) === 'object' || typeOf(given) === 'array' || helpers.fits(given, this.#strictly(one))) {
        take(name, one, given)
      }
    }
    return picked
  }

  #array(node: Node, value: unknown[]): unknown {
    const { tuple, rest: others } = itemsOf(node)
    const rest = tuple === undefined ? (others ?? true) : others
    const items = tuple === undefined || isObject(rest) || rest === true ? value : value.slice(0, tuple.length)
    // An item of which nothing may be sent keeps its index.
    return items.map((item, i) => this.#pick(tuple !== undefined && i < tuple.length ? tuple[i] : rest, item) ?? null)
  }
}

function typeOf(value: unknown): string {
  const given = plain(value)
  return given === null ? 'null' : Array.isArray(given) ? 'array' : typeof given
}
