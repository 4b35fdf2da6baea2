import type {
  DocumentNode,
  ExecutionArgs,
  ExecutionResult,
  GraphQLNamedType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { systemClock, Trace } from '../../../kernel/index.ts'
import type { Graphql, GraphqlJit } from '../packages.ts'
import { fragmentsOf } from './limits.ts'
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
export function executor(graphql: Graphql, schema: GraphQLSchema, compile?: Compile, minCount = 0): Executor {
  return (document, definition) => {
    const { operation, name: { value: operationName } = {} } = definition
    const run =
      (execute: (args: ExecutionArgs) => unknown): Run =>
      (contextValue, variableValues) =>
        execute({ schema, document, contextValue, variableValues, operationName, options: coercion }) as ReturnType<Run>
    if (operation === 'subscription') return run(graphql.subscribe)
    const interpret = run(graphql.execute)
    const compileSmall = (): Compiled => {
      const size = expandedSize(graphql, schema, document, definition, largestCompiled)
      return size > largestCompiled ? 'never' : compile!(schema, document, operationName)
    }
    const executed = compile === undefined ? interpret : compiling(interpret, compileSmall, minCount)
    return (context, variables) =>
      operationTrace.run(
        () => ({ type: operation, name: operationName }),
        () => executed(context, variables),
      )
  }
}

/** Number of fields of the largest operation that is compiled: each takes a sixth of a millisecond, during which no request is handled. */
const largestCompiled = 300

/** The result for an operation: a function, `later` if there is none yet, or `never`. */
export type Compiled = Run | 'later' | 'never'

const maxSaved = 1000
const share = 0.1

/** Compiles an operation, unless too much time was spent on that. */
export type Compile = (schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined) => Compiled

/**
 * Compiles operations for at most a tenth of the time, with a second saved up at the start: otherwise a client that often sends
 * new documents would keep the server busy compiling them.
 */
export function compiler(jit: GraphqlJit, now: () => number = () => systemClock.monotonic()): Compile {
  let saved = maxSaved
  let since = now()
  return (schema, document, operationName) => {
    const start = now()
    saved = Math.min(maxSaved, saved + (start - since) * share)
    since = start
    if (saved <= 0) return 'later'
    try {
      const compiled = jit.compileQuery(schema, document, operationName)
      if (!jit.isCompiledQuery(compiled)) return 'never'
      return (context, variables) => compiled.query(undefined, context, variables ?? {})
    } catch {
      // graphql-js executes operations that the compiler does not support.
      return 'never'
    } finally {
      saved -= now() - start
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

/**
 * Estimates the size of the compiler's output for an operation, in fields: fields of interfaces and unions are counted once for each
 * possible type, and for variables, every field of their types is counted, at every depth.
 *
 * For an input type that contains itself, the compiler would write without end until the stack overflows; three levels of an
 * interface with a hundred types took it 25 seconds. Stops counting above `most`.
 */
function expandedSize(
  graphql: Graphql,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  most: number,
): number {
  const fragments = fragmentsOf(document)
  const typeNamed = (name: string | undefined) => (name === undefined ? undefined : schema.getType(name))
  let size = 0

  /** `times`: how often the surrounding part is written. */
  function select(set: SelectionSetNode, type: GraphQLNamedType | undefined, times: number): void {
    const each = graphql.isAbstractType(type) ? times * schema.getPossibleTypes(type).length : times
    for (const one of set.selections) {
      size += each
      if (size > most) return
      if (one.kind === 'FragmentSpread') {
        const fragment = fragments.get(one.name.value)
        if (fragment) select(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value), times)
      } else if (one.kind === 'InlineFragment') {
        select(one.selectionSet, one.typeCondition ? typeNamed(one.typeCondition.name.value) : type, times)
      } else if (one.selectionSet) {
        select(one.selectionSet, fieldType(type, one.name.value), each)
      }
    }
  }
  /** Returns the type of a field; `undefined` for fields of the introspection, below which no type is abstract. */
  function fieldType(type: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
    const fields = graphql.isObjectType(type) || graphql.isInterfaceType(type) ? type.getFields() : undefined
    return graphql.getNamedType(fields?.[name]?.type)
  }
  function take(type: unknown): void {
    size++
    if (size > most) return
    if (graphql.isNonNullType(type)) take(type.ofType)
    else if (graphql.isListType(type)) {
      // Written twice: for a list, and for a single value instead of a list.
      take(type.ofType)
      take(type.ofType)
    } else if (graphql.isInputObjectType(type)) for (const field of Object.values(type.getFields())) take(field.type)
  }

  select(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined, 1)
  for (const variable of operation.variableDefinitions ?? []) take(graphql.typeFromAST(schema, variable.type))
  return size
}
