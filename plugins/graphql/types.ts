import type { RouteOptions } from '../../kernel/index.ts'

// The types of the package `graphql` are described and not imported: an application without it checks its own types too.

/** A schema that is ready: a `GraphQLSchema`. */
export interface ReadySchema {
  getQueryType(): unknown
  getTypeMap(): object
}

/** A parsed document: a `DocumentNode`. */
export interface SdlDocument {
  readonly kind: string
  readonly definitions: readonly object[]
}

/** Type definitions: a string, a parsed document, or a list of them. */
export type TypeDefs = string | SdlDocument | readonly (string | SdlDocument)[]

interface ResolverSignature {
  resolve(parent: unknown, args: Record<string, unknown>, context: unknown, info: object): unknown
}

/**
 * Computes the value of one field. Parameters may have types of their own:
 * `(shop: Shop, args: { first: number }, context: Context) => …`.
 */
// Taken from a method, whose parameters may be narrowed.
export type GraphqlResolver = ResolverSignature['resolve']

/** A field with more than one function: the source of its events, and the value of each. */
export interface GraphqlFieldResolver {
  subscribe?: GraphqlResolver
  resolve?: GraphqlResolver
}

/** The resolvers of one type by field; for an enum its values. */
export interface GraphqlTypeResolvers {
  readonly [field: string]: GraphqlResolver | GraphqlFieldResolver | string | number | boolean | object | null
}

/** A type that was made in code, a `GraphQLScalarType` for example. */
export interface ReadyType {
  readonly name: string
  toConfig(): object
}

/** Resolvers by type. */
export interface GraphqlResolvers {
  readonly [type: string]: GraphqlTypeResolvers | ReadyType
}

/** The source of a schema: text, files, and their resolvers. */
export interface SchemaSource {
  typeDefs?: TypeDefs
  /** Globs of files in the schema language, relative to the folder of the process or absolute; read at boot. */
  files?: string | readonly string[]
  resolvers?: GraphqlResolvers | readonly GraphqlResolvers[]
}

/** Options of the route `/graphql`: those without a meaning there are left out. */
export type GraphqlRouteOptions = Omit<RouteOptions, ForbiddenRouteOption>

/** Route options that would break the answers of the plugin. */
export const forbiddenRouteOptions = [
  'body',
  'query',
  'headers',
  'params',
  'all',
  'responses',
  'cache',
  'upload',
] as const
type ForbiddenRouteOption = (typeof forbiddenRouteOptions)[number]
