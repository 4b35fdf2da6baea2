import { LruMap } from '../../toolkit/lru.ts'

/** Characters of the templates that are kept compiled; their code takes some ten times that. */
const maxCharacters = 2_000_000
const maxTemplates = 1000

/** Makes something once for each template, and forgets what was not used for the longest time. */
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

  /** How many there are, for tests. @internal */
  get size(): number {
    return this.#kept.size
  }
}
