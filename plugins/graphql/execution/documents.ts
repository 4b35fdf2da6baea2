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

/** The operations of a document by name, and one that is alone without a name as well. */
type Operations = ReadonlyMap<string | undefined, Operation>

/** What documents are checked with, and how their operations are executed. */
interface DocumentsOptions {
  readonly graphql: Graphql
  readonly schema: GraphQLSchema
  readonly run: Executor
  readonly limits: Limits
  readonly introspection: boolean
  readonly cost: CostLimit | undefined
}

/** Returns the requested operation, or the reason why it is refused. */
export type FindOperation = (asked: Asked) => Operation | Refusal

const maxErrors = 20

/**
 * Keeps parsed and valid documents, by their text. At most 1000, with 500 000 characters in total: a parsed
 * document takes about a hundred bytes per character.
 *
 * Refused documents are not kept: a stream of faulty ones would only displace those that are frequent.
 */
export function operationFinder(options: DocumentsOptions): FindOperation {
  const known = new LruMap<Operations>({
    max: 1000,
    maxSize: 500_000,
    sizeOf: (_operations, text) => text.length + 200,
  })
  return ({ query, operationName }) => {
    const there = known.get(query)
    const operations = there ?? read(query, options)
    if (isRefusal(operations)) return operations
    if (there === undefined) known.set(query, operations)
    return chooseOperation(operations, operationName)
  }
}

function read(text: string, options: DocumentsOptions): Operations | Refusal {
  const { graphql, limits, introspection } = options
  try {
    return check(graphql.parse(text, { maxTokens: limits.tokens }), options)
  } catch (error) {
    // Possible only if the limits are turned off: the parser calls itself for each level.
    if (error instanceof RangeError) return refuse(400, 'The document nests too deep.', 'LIMIT_EXCEEDED')
    if (!(error instanceof graphql.GraphQLError)) throw error
    if (error.message.includes('Parsing aborted')) return refuseExcess(`has more than ${limits.tokens} tokens`)
    return refuseDocument([describe(error, 'GRAPHQL_PARSE_FAILED', introspection)])
  }
}

function describe(error: GraphQLError, code: string, hints: boolean): SentError {
  const plain = error.toJSON()
  return { ...plain, message: worded(plain.message, hints), extensions: { ...plain.extensions, code } }
}

function check(document: DocumentNode, options: DocumentsOptions): Operations | Refusal {
  const { graphql, schema, limits, introspection } = options
  // Lines are limited as well as tokens, since they may be empty: to locate an error, all lines before it are counted each time.
  if ((document.loc?.endToken.line ?? 0) > limits.tokens) return refuseExcess(`has more than ${limits.tokens} lines`)
  const excess = measure(document, limits)
  if (excess !== undefined) return refuseExcess(excess)
  const rules = [...graphql.specifiedRules, ...(introspection ? [] : [graphql.NoSchemaIntrospectionCustomRule])]
  const errors = graphql.validate(schema, document, rules, { maxErrors })
  if (errors.length > 0)
    return refuseDocument(errors.map((error) => describe(error, 'GRAPHQL_VALIDATION_FAILED', introspection)))
  return operationsOf(document, options)
}

function operationsOf(document: DocumentNode, { run, cost }: DocumentsOptions): Operations {
  const definitions = document.definitions.filter((one) => one.kind === 'OperationDefinition')
  const all = definitions.map((one): Operation => {
    const { operation: type, name } = one
    return { type, document, name: name?.value, run: run(document, one), checkCost: cost?.(document, one) }
  })
  const named = all.filter(({ name }) => name !== undefined).map((one) => [one.name, one] as const)
  return new Map([...named, ...(all.length === 1 ? [[undefined, all[0]!] as const] : [])])
}

function refuseExcess(excess: string): Refusal {
  return refuse(400, `The document ${excess}.`, 'LIMIT_EXCEEDED')
}

function chooseOperation(operations: Operations, name: string | undefined): Operation | Refusal {
  const operation = operations.get(name)
  if (operation !== undefined) return operation
  return refuseDocument([{ message: whyNone(operations, name), extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }])
}

function whyNone({ size }: Operations, name: string | undefined): string {
  if (name !== undefined) return `The document has no operation named ${JSON.stringify(worded(name, true))}.`
  if (size > 0) return 'The document has several operations: operationName must select one.'
  return 'The document has no operation.'
}
