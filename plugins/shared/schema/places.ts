import { isDeepStrictEqual } from 'node:util'
import { madeIn } from '../values/memoize.ts'
import { safely } from '../values/safely.ts'
import {
  definitionKeywords,
  isObject,
  listKeywords,
  mapKeywords,
  type Node,
  schemaKeywords,
  schemasWithin,
} from './keywords.ts'
import { pointed } from './names.ts'

/** A schema in its place: one object may be in several places, and its references mean something different in each. */
export interface Place {
  readonly node: Node
  readonly scope: Scope
}

/** The target of a reference. A boolean is also a schema. */
export type Target = Place | boolean

/** A schema with an address of its own, to which `#` refers inside it: the root, and each schema with an `$id`. */
interface Resource {
  readonly root: Node
  readonly address: string
  readonly anchors: Map<string, Place[]>
}

/** The names in one part of a schema, which take precedence over those around it. */
class Scope {
  readonly place: Place
  readonly parent: Scope | undefined
  readonly resource: Resource
  /** The place to which `#` refers. */
  readonly home: Place
  readonly names = new Map<string, Place>()
  readonly places = new Map<Node, Place>()

  constructor(node: Node, parent: Scope | undefined, resource: Resource) {
    this.place = { node, scope: this }
    this.parent = parent
    this.resource = resource
    this.home = resource.root === node ? this.place : parent!.home
  }
}

const addressOf = (text: string, base: string) =>
  safely(() => new URL(text, base === '' ? 'schema:///' : base).href.replace(/#$/, ''), text)

const hasAddress = (node: Node): node is Node & { readonly $id: string } =>
  typeof node.$id === 'string' && !node.$id.startsWith('#')

/** The definitions of a schema that have addresses. */
function addressed(node: Node) {
  return [...definitionKeywords].flatMap((keyword) => {
    const definitions = node[keyword]
    return isObject(definitions) ? Object.values(definitions).filter(isObject).filter(hasAddress) : []
  })
}

/**
 * All places of one JSON Schema, and the targets of the references in them.
 *
 * Of several schemas with the same `$id`, the nearest applies: TypeBox gives each schema definitions of its own, whose names
 * are repeated where two of them are parts of a larger schema.
 */
export class Places {
  readonly root: Place
  readonly #named = new Map<string, Place[]>()

  constructor(root: Node) {
    this.root = this.#open(root, undefined)
    this.#collect()
  }

  /** The place of a schema within another. */
  within(node: Node, around: Scope): Place {
    return madeIn(around.places, node, () => this.#find(node, around))
  }

  #find(node: Node, around: Scope): Place {
    // An object that contains itself is in only one place.
    for (let scope: Scope | undefined = around; scope !== undefined; scope = scope.parent) {
      if (scope.place.node === node) return scope.place
    }
    return hasAddress(node) || addressed(node).length > 0 ? this.#open(node, around) : { node, scope: around }
  }

  /** The place of a schema in which names mean something different than around it. */
  #open(node: Node, around: Scope | undefined): Place {
    const base = around?.resource.address ?? ''
    const isResource = hasAddress(node) || around === undefined
    const address = hasAddress(node) ? addressOf(node.$id, base) : ''
    const resource = isResource ? { root: node, address, anchors: new Map() } : around.resource
    const scope = new Scope(node, around, resource)
    if (hasAddress(node)) {
      scope.names.set(resource.address, scope.place)
      add(this.#named, resource.address, scope.place)
    }
    for (const one of addressed(node)) scope.names.set(addressOf(one.$id, resource.address), this.within(one, scope))
    return scope.place
  }

  /** Collects all anchors. Not recursive: deep nesting must not overflow the stack. */
  #collect(): void {
    const seen = new Set<Place>()
    const open = [this.root]
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (seen.size === seen.add(place).size) continue
      const { node, scope } = place
      const { anchors } = scope.resource
      const { $id, $anchor } = node
      // Until draft-07, an anchor was an `$id` of this form.
      if (typeof $id === 'string' && $id.startsWith('#')) add(anchors, $id.slice(1), place)
      if (typeof $anchor === 'string') add(anchors, $anchor, place)
      for (const keyword of definitionKeywords) {
        if (!isObject(node[keyword])) continue
        for (const one of Object.values(node[keyword])) if (isObject(one)) open.push(this.within(one, scope))
      }
      for (const [, one] of schemasWithin(node)) open.push(this.within(one, scope))
    }
  }

  /**
   * The target of a reference; `undefined` when it cannot be resolved.
   *
   * @throws TypeError when it could mean several schemas that differ.
   */
  resolve(ref: string, { scope }: Place): Target | undefined {
    const hash = ref.indexOf('#')
    const address = hash === -1 ? ref : ref.slice(0, hash)
    const fragment = hash === -1 ? '' : ref.slice(hash + 1)
    const home = address === '' ? scope.home : this.#byAddress(address, scope)
    if (home === undefined || fragment === '' || fragment === '/') return home
    if (fragment.startsWith('/')) return this.#byPointer(home, fragment)
    return only(home.scope.resource.anchors.get(fragment), ref)
  }

  #byAddress(text: string, from: Scope): Place | undefined {
    const address = addressOf(text, from.resource.address)
    for (let scope: Scope | undefined = from; scope !== undefined; scope = scope.parent) {
      const there = scope.names.get(address)
      if (there !== undefined) return there
    }
    return only(this.#named.get(address), text)
  }

  #byPointer(home: Place, pointer: string): Target | undefined {
    let at: unknown = home.node
    let place = home
    let kind: Kind = 'schema'
    for (const part of pointer.split('/').slice(1)) {
      const key = pointed(part)
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
      at = (at as Record<string, unknown>)[key]
      kind = kindOf(kind, key, at)
      if (kind === 'schema' && isObject(at)) place = this.within(at, place.scope)
    }
    if (typeof at === 'boolean') return at
    if (!isObject(at)) return undefined
    return place.node === at ? place : this.within(at, place.scope)
  }
}

/** The kind of place that a pointer leads through. */
type Kind = 'schema' | 'schemas' | 'other'

function kindOf(around: Kind, key: string, value: unknown): Kind {
  if (around !== 'schema') return around === 'schemas' ? 'schema' : 'other'
  if (mapKeywords.has(key) || definitionKeywords.has(key) || listKeywords.has(key)) return 'schemas'
  if (!schemaKeywords.has(key)) return 'other'
  return Array.isArray(value) ? 'schemas' : 'schema'
}

function add(map: Map<string, Place[]>, name: string, place: Place): void {
  map.set(name, [...(map.get(name) ?? []), place])
}

/** The only target: several must be equal. */
function only(places: readonly Place[] | undefined, ref: string): Place | undefined {
  const [first, ...others] = places ?? []
  if (first === undefined || others.every(({ node }) => isDeepStrictEqual(node, first.node))) return first
  throw new TypeError(`the reference ${JSON.stringify(ref)} could mean several schemas, which differ`)
}
