import type { LRUCache } from 'lru-cache'

/** Characters of the templates that are kept compiled; their code takes some ten times that. */
const maxCharacters = 2_000_000
const maxTemplates = 1000

/** Makes something once for each template, and forgets what was not used for the longest time. */
export class Compiled<Value extends {}> {
  #kept: LRUCache<string, Value> | undefined

  async get(template: string, kind: string, compile: () => Value | Promise<Value>): Promise<Value> {
    if (this.#kept === undefined) {
      const { LRUCache } = await import('lru-cache')
      this.#kept ??= new LRUCache<string, Value>({
        max: maxTemplates,
        maxSize: maxCharacters,
        sizeCalculation: (_value, key) => key.length,
      })
    }
    const key = `${kind}:${template}`
    const found = this.#kept.get(key)
    if (found !== undefined) return found
    const made = await compile()
    this.#kept.set(key, made)
    return made
  }

  /** How many there are, for tests. @internal */
  get size(): number {
    return this.#kept?.size ?? 0
  }
}
