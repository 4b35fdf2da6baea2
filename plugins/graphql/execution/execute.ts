import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import { systemClock, Trace } from '../../../kernel/index.ts'
import type { Graphql, GraphqlJit } from '../packages.ts'
import { expandedSize } from './compiled-size.ts'
import type { GraphqlOperationTrace } from './trace-events.ts'

const operationTrace = new Trace<GraphqlOperationTrace>('graphql.operation')

export type Variables = { readonly [name: string]: unknown } | undefined

/** Executes one operation; returns a promise only if a resolver returned one. */
export type Run = (context: unknown, variables: Variables) => ExecutionResult | Promise<ExecutionResult>

/** Makes the function that executes an operation of a document; that of a subscription starts it, and returns its results. */
export type Executor = (document: DocumentNode, definition: OperationDefinitionNode) => Run

/**
 * Limits how many invalid variables are reported: each error repeats the invalid value, which may be the whole body.
 */
const coercion = { maxCoercionErrors: 3 }

/** Decides how operations are executed: by graphql-js, or compiled if that is enabled. */
export function executor(graphql: Graphql, schema: GraphQLSchema, compiler?: Compiler, minCount = 0): Executor {
  return (document, definition) => {
    const { operation, name: { value: operationName } = {} } = definition
    const run =
      (execute: (args: ExecutionArgs) => unknown): Run =>
      (contextValue, variableValues) =>
        execute({
          schema,
          document,
          contextValue,
          variableValues,
          operationName,
          options: coercion,
        }) as ReturnType<Run>
    if (operation === 'subscription') return run(graphql.subscribe)
    const interpret = run(graphql.execute)
    const compile = (): Compiled => {
      const size = expandedSize(graphql, schema, document, definition, largestCompiled)
      return size > largestCompiled ? 'never' : compiler!.compile(schema, document, operationName)
    }
    const executed = compiler === undefined ? interpret : compiling(interpret, compile, minCount)
    return (context, variables) =>
      operationTrace.run(
        () => ({ type: operation, name: operationName }),
        () => executed(context, variables),
      )
  }
}

/** Number of fields of the largest operation that is compiled: each takes a sixth of a millisecond, during which no request is handled. */
export const largestCompiled = 300

/** The result for an operation: a function, or `later` or `never` if there is none now or ever. */
export type Compiled = Run | 'later' | 'never'

const maxSaved = 1000
const share = 0.1

/**
 * Compiles operations for at most a tenth of the time, with a second saved up at the start: otherwise a client that often sends
 * new documents would keep the server busy compiling them.
 */
export class Compiler {
  readonly #jit: GraphqlJit
  readonly #now: () => number
  #saved = maxSaved
  #since: number

  constructor(jit: GraphqlJit, now: () => number = () => systemClock.monotonic()) {
    this.#jit = jit
    this.#now = now
    this.#since = now()
  }

  compile(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined): Compiled {
    const start = this.#now()
    this.#saved = Math.min(maxSaved, this.#saved + (start - this.#since) * share)
    this.#since = start
    if (this.#saved <= 0) return 'later'
    try {
      const compiled = this.#jit.compileQuery(schema, document, operationName)
      if (!this.#jit.isCompiledQuery(compiled)) return 'never'
      return (context, variables) => compiled.query(undefined, context, variables ?? {})
    } catch {
      // graphql-js executes operations that the compiler does not support.
      return 'never'
    } finally {
      this.#saved -= this.#now() - start
    }
  }
}

/** Executes an operation with `interpret` the first `minCount` times, then with the result of `compile`. */
export function compiling(interpret: Run, compile: () => Compiled, minCount: number): Run {
  let compiled: Compiled = 'later'
  let count = 0
  return (context, variables) => {
    if (compiled === 'later' && ++count > minCount) compiled = compile()
    if (typeof compiled === 'string') return interpret(context, variables)
    const result = compiled(context, variables)
    // Without data, nothing was executed: the variables are invalid, and graphql-js then reports that in its own words.
    return 'errors' in result && result.data === undefined ? interpret(context, variables) : result
  }
}
