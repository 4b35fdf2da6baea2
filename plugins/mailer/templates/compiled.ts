import { LruMap } from '../../shared/values/lru.ts'

/** How many characters of templates are kept compiled; their code takes about ten times as much. */
const maxCharacters = 2_000_000
const maxTemplates = 1000

/** Compiles each template once, and forgets the least recently used ones. */
export class Compiled<Value extends {}> {
  readonly #kept = new LruMap<Value>({
    max: maxTemplates,
    maxSize: maxCharacters,
    sizeOf: (_value, key) => key.length,
  })

  async get(template: string, kind: string, compile: () => Value | Promise<Value>): Promise<Value> {
    const key = `${kind}:${template}`
    const found = this.#kept.get(key)
    if (found !== undefined) return found
    const made = await compile()
    this.#kept.set(key, made)
    return made
  }

  /** The number of kept templates, for tests. @internal */
  get size(): number {
    return this.#kept.size
  }
}
