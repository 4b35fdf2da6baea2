import { LruMap } from '../../shared/values/lru.ts'
import { madeIn } from '../../shared/values/memoize.ts'

/** How many characters of templates are kept compiled; their code takes about ten times as much. */
const maxCharacters = 2_000_000
const maxTemplates = 1000

/** Compiles each template once, and forgets the least recently used ones. */
export class Compiled<Value extends {}> extends LruMap<Value> {
  constructor() {
    super({ max: maxTemplates, maxSize: maxCharacters, sizeOf: (_value, key) => key.length })
  }

  of(template: string, kind: string, compile: () => Value): Value {
    return madeIn(this, `${kind}:${template}`, compile)
  }
}
