import type { GraphqlService } from './service.ts'

export type { GraphqlOperationTrace, GraphqlResolverTrace } from './execution/trace-events.ts'
export type {
  ApolloOptions,
  ContextFunction,
  GraphqlCost,
  GraphqlLimits,
  GraphqlOptions,
  JitOptions,
} from './options.ts'
export { graphql } from './plugin.ts'
export { GraphqlService } from './service.ts'
export type {
  GraphqlFieldResolver,
  GraphqlResolver,
  GraphqlResolvers,
  GraphqlRouteOptions,
  GraphqlTypeResolvers,
  ReadySchema,
  ReadyType,
  SchemaSource,
  SdlDocument,
  TypeDefs,
} from './types.ts'

// In the file that declares the interface: merging into the entry point would hide it from applications that merge into theirs.
declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Takes type definitions and resolvers, and executes operations, with the plugin `graphql`. */
    graphql: GraphqlService
  }
}
