// Separate from the public types, which may not name an optional package.

/** The package `graphql`, loaded when the plugin starts. */
export type Graphql = typeof import('graphql')

/** The package `@graphql-tools/schema`. */
export type SchemaTools = typeof import('@graphql-tools/schema')

/** The package `graphql-jit`. */
export type GraphqlJit = typeof import('graphql-jit')
