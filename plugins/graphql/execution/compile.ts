import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { GraphqlJit } from '../packages.ts'
import type { Run } from './execute.ts'

/** Fields of the largest operation that is compiled: each takes a sixth of a millisecond, during which no one is answered. */
export const largestCompiled = 300

/** What became of an operation: a function, or nothing now, or nothing ever. */
export type Compiled = Run | 'later' | 'never'

const mostSaved = 1000
const share = 0.1

/**
 * Compiles operations, for a tenth of the time at most, with a second saved up at the start: whoever sends ever new
 * documents often enough would else keep the server busy with compiling them.
 */
export class Compiler {
  readonly #jit: GraphqlJit
  readonly #now: () => number
  #saved = mostSaved
  #since: number

  constructor(jit: GraphqlJit, now: () => number = () => performance.now()) {
    this.#jit = jit
    this.#now = now
    this.#since = now()
  }

  compile(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined): Compiled {
    const start = this.#now()
    this.#saved = Math.min(mostSaved, this.#saved + (start - this.#since) * share)
    this.#since = start
    if (this.#saved <= 0) return 'later'
    try {
      const compiled = this.#jit.compileQuery(schema, document, operationName)
      if (!this.#jit.isCompiledQuery(compiled)) return 'never'
      return (context, variables) => compiled.query(undefined, context, variables ?? {})
    } catch {
      // What the compiler does not know, graphql-js does.
      return 'never'
    } finally {
      this.#saved -= this.#now() - start
    }
  }
}

/** Executes an operation by `interpret` until it was asked `minCount` times, then by what `compile` makes of it. */
export function compiling(interpret: Run, compile: () => Compiled, minCount: number): Run {
  let compiled: Compiled = 'later'
  let count = 0
  return (context, variables) => {
    if (compiled === 'later' && ++count > minCount) compiled = compile()
    if (typeof compiled === 'string') return interpret(context, variables)
    const result = compiled(context, variables)
    // Without data nothing was executed: the variables do not fit, and graphql-js says so in its own words.
    return 'errors' in result && result.data === undefined ? interpret(context, variables) : result
  }
}
