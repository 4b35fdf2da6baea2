import type { TraceOutcome } from '../../../kernel/index.ts'

/** A query or a mutation. Errors of resolvers are in its result and not its `error`. */
export interface GraphqlOperationTrace extends TraceOutcome {
  readonly type: 'query' | 'mutation' | 'subscription'
  readonly name: string | undefined
}

/** One resolver for one object. */
export interface GraphqlResolverTrace extends TraceOutcome {
  readonly type: string
  readonly field: string
  /** The `GraphQLResolveInfo` of the package `graphql`; these types must compile without that package. */
  readonly info: object
}
