/** One object of a JSON Schema. */
export type Node = { readonly [keyword: string]: unknown }

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The places that a `$ref` within one schema can lead to. */
export class References {
  readonly #root: unknown
  readonly #ids = new Map<string, unknown>()

  constructor(root: unknown) {
    this.#root = root
    this.#collect(root, new Set())
  }

  #collect(node: unknown, seen: Set<unknown>): void {
    if (typeof node !== 'object' || node === null || seen.has(node)) return
    seen.add(node)
    if (isObject(node)) {
      if (typeof node.$id === 'string') this.#ids.set(node.$id, node)
      if (typeof node.$anchor === 'string') this.#ids.set(`#${node.$anchor}`, node)
    }
    for (const one of Object.values(node)) this.#collect(one, seen)
  }

  /** @throws for a reference that leads nowhere. */
  resolve(ref: unknown): unknown {
    if (ref === '#') return this.#root
    const there = this.#ids.get(String(ref)) ?? this.#pointer(String(ref))
    if (there === undefined) throw new TypeError(`the reference ${JSON.stringify(ref)} leads nowhere`)
    return there
  }

  #pointer(ref: string): unknown {
    const [id = '', pointer] = ref.split('#')
    if (pointer === undefined || !pointer.startsWith('/')) return undefined
    let at: unknown = id === '' ? this.#root : this.#ids.get(id)
    for (const part of pointer.split('/').slice(1)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
      at = (at as Record<string, unknown>)[key]
    }
    return at
  }
}
