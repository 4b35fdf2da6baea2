import type { TraceOutcome } from '../../../kernel/index.ts'

/** One execution of an operation. Errors of resolvers are in its result rather than in `error`. */
export interface GraphqlOperationTrace extends TraceOutcome {
  /** The kind of the operation. */
  readonly type: 'query' | 'mutation' | 'subscription'
  /** The name of the operation in the document; `undefined` for an operation without one. */
  readonly name: string | undefined
}

/** One call of a resolver, for one object. */
export interface GraphqlResolverTrace extends TraceOutcome {
  /** The name of the type: `Query`. */
  readonly type: string
  /** The name of the field: `books`. */
  readonly field: string
  /** The `GraphQLResolveInfo` of the package `graphql`; these types must compile without that package. */
  readonly info: object
}
