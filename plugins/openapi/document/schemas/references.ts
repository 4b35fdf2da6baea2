import { isObject, type Json } from '../json.ts'

/** Keywords whose values are data and no schemas. */
const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'example', 'examples'])

const absolute = (ref: string, base: string) => {
  try {
    return new URL(ref, base === '' ? 'schema:///' : new URL(base, 'schema:///')).href
  } catch {
    return undefined
  }
}

/** One schema with an address of its own: the root, or one with `$id`. */
interface Resource {
  readonly root: unknown
  readonly address: string
}

/** Where the references within one JSON Schema lead. */
export class References {
  readonly #root: Resource
  readonly #byAddress = new Map<string, Resource>()
  readonly #byName = new Map<string, unknown>()
  readonly #anchors = new Map<string, unknown>()
  readonly #home = new Map<unknown, Resource>()

  constructor(root: unknown) {
    this.#root = { root, address: '' }
    this.#collect(root)
  }

  /** Not recursive: what is deeply nested must not end the stack. */
  #collect(root: unknown): void {
    const open: [unknown, Resource][] = [[root, this.#root]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [node, around] = next
      if (typeof node !== 'object' || node === null || this.#home.has(node)) continue
      const home = isObject(node) ? this.#resourceOf(node, around) : around
      this.#home.set(node, home)
      for (const [name, value] of Object.entries(node)) if (!data.has(name)) open.push([value, home])
    }
  }

  #resourceOf(node: Json, around: Resource): Resource {
    for (const name of ['$anchor', '$dynamicAnchor']) {
      if (typeof node[name] === 'string') this.#anchors.set(`#${node[name]}`, node)
    }
    const { $id: id } = node
    if (typeof id !== 'string') return around
    if (id.startsWith('#')) {
      this.#anchors.set(id, node)
      return around
    }
    const resource = { root: node, address: absolute(id, around.address)?.replace(/#$/, '') ?? '' }
    this.#byName.set(id, node)
    if (!this.#byAddress.has(resource.address)) this.#byAddress.set(resource.address, resource)
    return resource
  }

  /** The schema that a reference in a node leads to; `undefined` where it leads nowhere. */
  resolve(ref: string, from: unknown): unknown {
    const home = this.#home.get(from) ?? this.#root
    if (ref === '#') return home.root
    const named = this.#byName.get(ref) ?? (ref.startsWith('#/') ? undefined : this.#anchors.get(ref))
    if (named !== undefined) return named
    const [address = '', pointer = ''] = ref.split('#', 2)
    const resource = address === '' ? home : this.#byAddress.get(absolute(address, home.address) ?? '')
    if (resource === undefined) return undefined
    if (pointer === '') return resource.root
    if (!pointer.startsWith('/')) return this.#anchors.get(`#${pointer}`)
    return at(resource.root, pointer) ?? (address === '' ? at(this.#root.root, pointer) : undefined)
  }
}

function at(root: unknown, pointer: string): unknown {
  let place = root
  for (const part of pointer.split('/').slice(1)) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined
    place = (place as Json)[key]
  }
  return isObject(place) || typeof place === 'boolean' ? place : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
