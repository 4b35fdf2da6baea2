import type { GraphqlService } from './service.ts'

export type { GraphqlOperationTrace, GraphqlResolverTrace } from './execution/trace-events.ts'
export type {
  ApolloOptions,
  ContextFunction,
  GraphqlCost,
  GraphqlLimits,
  GraphqlOptions,
  GraphqlRouteOptions,
  JitOptions,
} from './options.ts'
export { graphql } from './plugin.ts'
export { GraphqlService } from './service.ts'
export type * from './types.ts'

// Augments the file that declares the interface: augmenting the entry point would hide this from applications that do the same.
declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Holds the GraphQL schema, and accepts type definitions and resolvers for it; added by the plugin `graphql`. */
    graphql: GraphqlService
  }
}
