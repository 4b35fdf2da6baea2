import type { DocumentNode, ExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import { type Compiler, compiling, largestCompiled } from './compile.ts'
import type { Graphql } from './packages.ts'

export type Variables = { readonly [name: string]: unknown } | undefined

/** Executes one operation; gives a promise only where a resolver gave one. */
export type Run = (context: unknown, variables: Variables) => ExecutionResult | Promise<ExecutionResult>

/** How operations are executed: by graphql-js, and compiled where that is wanted. */
export class Executors {
  readonly #graphql: Graphql
  readonly #schema: GraphQLSchema
  readonly #compiler: Compiler | undefined
  readonly #minCount: number

  constructor(graphql: Graphql, schema: GraphQLSchema, compiler?: Compiler, minCount = 0) {
    this.#graphql = graphql
    this.#schema = schema
    this.#compiler = compiler
    this.#minCount = minCount
  }

  /** The way to execute an operation of a document that selects `size` fields. */
  of(document: DocumentNode, definition: OperationDefinitionNode, size: number): Run {
    const { execute } = this.#graphql
    const schema = this.#schema
    const operationName = definition.name?.value
    const interpret: Run = (contextValue, variableValues) =>
      execute({ schema, document, contextValue, variableValues, operationName }) as ReturnType<Run>
    const compiler = this.#compiler
    if (compiler === undefined || definition.operation === 'subscription' || size > largestCompiled) return interpret
    return compiling(interpret, () => compiler.compile(schema, document, operationName), this.#minCount)
  }
}
