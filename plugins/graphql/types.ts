import type { RouteOptions } from '../../kernel/index.ts'

// The types of the package `graphql` are described and not imported: an application without it checks its own types too.

/** A schema that is ready: a `GraphQLSchema`. */
export interface ReadySchema {
  /** The root type of queries. */
  getQueryType(): unknown
  /** All types by name. */
  getTypeMap(): object
}

/** A parsed document: a `DocumentNode`. */
export interface SdlDocument {
  /** `Document`. */
  readonly kind: string
  /** The definitions of the document, in order. */
  readonly definitions: readonly object[]
}

/** Type definitions: a string, a parsed document, or a list of them. */
export type TypeDefs = string | SdlDocument | readonly (string | SdlDocument)[]

/** The form that every resolver has. */
interface ResolverSignature {
  /** Called with the parent object, the arguments of the field, the context of the request, and what is known of the operation. */
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
  /** Where the events of a subscription come from: returns an async iterable. */
  subscribe?: GraphqlResolver
  /** Finds the value of the field; for a subscription, from one event. */
  resolve?: GraphqlResolver
}

/** The resolvers of one type by field; for an enum its values. */
export interface GraphqlTypeResolvers {
  readonly [field: string]: GraphqlResolver | GraphqlFieldResolver | string | number | boolean | object | null
}

/** A type that was made in code, a `GraphQLScalarType` for example. */
export interface ReadyType {
  /** The name of the type in the schema. */
  readonly name: string
  /** What the type was made of. */
  toConfig(): object
}

/** Resolvers by type. */
export interface GraphqlResolvers {
  readonly [type: string]: GraphqlTypeResolvers | ReadyType
}

/** Where a schema comes from: text, files, and the functions of its fields. */
export interface SchemaSource {
  /** Type definitions in the schema language, as text or parsed. */
  typeDefs?: TypeDefs
  /** Globs of files in the schema language, relative to the folder of the process or absolute; read at boot. */
  files?: string | readonly string[]
  /** The functions of the fields; those of a list are merged. */
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
