import type { DocumentNode, ExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Graphql } from '../packages.ts'
import { type Compiler, compiling, largestCompiled } from './compile.ts'
import { expandedSize } from './compiled-size.ts'

export type Variables = { readonly [name: string]: unknown } | undefined

/** Executes one operation; returns a promise only if a resolver returned one. */
export type Run = (context: unknown, variables: Variables) => ExecutionResult | Promise<ExecutionResult>

/**
 * Limits how many invalid variables are reported: each error repeats the invalid value, which may be the whole body.
 */
export const coercion = { maxCoercionErrors: 3 }

/** Decides how operations are executed: by graphql-js, or compiled if that is enabled. */
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

  /** Returns the function that executes an operation of a document. */
  of(document: DocumentNode, definition: OperationDefinitionNode): Run {
    const graphql = this.#graphql
    const schema = this.#schema
    const operationName = definition.name?.value
    const interpret: Run = (contextValue, variableValues) =>
      graphql.execute({
        schema,
        document,
        contextValue,
        variableValues,
        operationName,
        options: coercion,
      }) as ReturnType<Run>
    const compiler = this.#compiler
    if (compiler === undefined || definition.operation === 'subscription') return interpret
    const compile = () => {
      const size = expandedSize(graphql, schema, document, definition, largestCompiled)
      return size > largestCompiled ? 'never' : compiler.compile(schema, document, operationName)
    }
    return compiling(interpret, compile, this.#minCount)
  }
}
