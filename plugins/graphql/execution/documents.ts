import type { DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import { LruMap } from '../../shared/values/lru.ts'
import type { CheckCost, CostLimit } from '../cost/limit.ts'
import type { Asked } from '../http/request.ts'
import type { Limits } from '../options.ts'
import type { Graphql } from '../packages.ts'
import type { Executor, Run } from './execute.ts'
import { measure } from './limits.ts'
import { isRefusal, type Refusal, refuse, refuseDocument, type SentError, worded } from './refusal.ts'

/** One operation of a document that passed every check. */
export interface Operation {
  readonly type: OperationDefinitionNode['operation']
  readonly document: DocumentNode
  readonly name: string | undefined
  readonly run: Run
  /** Checks the cost of the operation; `undefined`: costs are not limited. */
  readonly checkCost: CheckCost | undefined
}

/** The operations of a document, by name. */
interface Operations {
  /** The operation if the document has exactly one. */
  readonly only: Operation | undefined
  readonly named: ReadonlyMap<string, Operation>
}

interface DocumentsOptions {
  readonly limits: Limits
  readonly introspection: boolean
  readonly cost: CostLimit | undefined
}

const maxErrors = 20

/**
 * Keeps parsed and valid documents, by their text. At most 1000, with 500 000 characters in total: a parsed
 * document takes about a hundred bytes per character.
 *
 * Refused documents are not kept: a stream of faulty ones would only displace those that are frequent.
 */
export class Documents {
  readonly #graphql: Graphql
  readonly #schema: GraphQLSchema
  readonly #options: DocumentsOptions
  readonly #executor: Executor
  readonly #known = new LruMap<Operations>({
    max: 1000,
    maxSize: 500_000,
    sizeOf: (_operations, text) => text.length + 200,
  })

  constructor(graphql: Graphql, schema: GraphQLSchema, executor: Executor, options: DocumentsOptions) {
    this.#graphql = graphql
    this.#schema = schema
    this.#executor = executor
    this.#options = options
  }

  /** Returns the requested operation, or the reason why it is refused. */
  find({ query, operationName }: Asked): Operation | Refusal {
    const operations = this.#read(query)
    return isRefusal(operations) ? operations : chooseOperation(operations, operationName)
  }

  #read(text: string): Operations | Refusal {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const read = this.#guarded(text)
    if (!isRefusal(read)) this.#known.set(text, read)
    return read
  }

  #guarded(text: string): Operations | Refusal {
    try {
      return this.#check(text)
    } catch (error) {
      // Possible only if the limits are turned off: the parser calls itself for each level.
      if (error instanceof RangeError) return refuse(400, 'The document nests too deep.', 'LIMIT_EXCEEDED')
      throw error
    }
  }

  #check(text: string): Operations | Refusal {
    const { limits } = this.#options
    let document: DocumentNode
    try {
      document = this.#graphql.parse(text, { maxTokens: limits.tokens })
    } catch (error) {
      if (!(error instanceof this.#graphql.GraphQLError)) throw error
      if (error.message.includes('Parsing aborted')) return refuseExcess(`has more than ${limits.tokens} tokens`)
      return refuseDocument([this.#describe(error, 'GRAPHQL_PARSE_FAILED')])
    }
    // Lines are limited as well as tokens, since they may be empty: to locate an error, all lines before it are counted each time.
    if ((document.loc?.endToken.line ?? 0) > limits.tokens) return refuseExcess(`has more than ${limits.tokens} lines`)
    const excess = measure(document, limits)
    if (excess !== undefined) return refuseExcess(excess)
    const errors = this.#validate(document)
    if (errors.length > 0) {
      return refuseDocument(errors.map((error) => this.#describe(error, 'GRAPHQL_VALIDATION_FAILED')))
    }
    return this.#operationsOf(document)
  }

  #validate(document: DocumentNode): readonly GraphQLError[] {
    const { validate, specifiedRules, NoSchemaIntrospectionCustomRule } = this.#graphql
    const rules = this.#options.introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule]
    return validate(this.#schema, document, rules, { maxErrors })
  }

  #describe(error: GraphQLError, code: string): SentError {
    const plain = error.toJSON()
    const message = worded(plain.message, this.#options.introspection)
    return { ...plain, message, extensions: { ...plain.extensions, code } }
  }

  #operationsOf(document: DocumentNode): Operations {
    const named = new Map<string, Operation>()
    let last: Operation | undefined
    let count = 0
    for (const definition of document.definitions) {
      if (definition.kind !== 'OperationDefinition') continue
      const name = definition.name?.value
      const run = this.#executor(document, definition)
      const checkCost = this.#options.cost?.(document, definition)
      last = { type: definition.operation, document, name, run, checkCost }
      if (name !== undefined) named.set(name, last)
      count++
    }
    return { only: count === 1 ? last : undefined, named }
  }
}

function refuseExcess(excess: string): Refusal {
  return refuse(400, `The document ${excess}.`, 'LIMIT_EXCEEDED')
}

function chooseOperation(operations: Operations, name: string | undefined): Operation | Refusal {
  const { only, named } = operations
  const code = 'OPERATION_RESOLUTION_FAILURE'
  if (name === undefined) {
    if (only !== undefined) return only
    const message =
      named.size === 0
        ? 'The document has no operation.'
        : 'The document has several operations: operationName must select one.'
    return refuseDocument([{ message, extensions: { code } }])
  }
  const operation = named.get(name)
  if (operation !== undefined) return operation
  return refuseDocument([
    { message: `The document has no operation named ${JSON.stringify(worded(name, true))}.`, extensions: { code } },
  ])
}
