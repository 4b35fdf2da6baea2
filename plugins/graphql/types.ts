// The types of the package `graphql` are described rather than imported, because applications without it check their types as well.

/** A complete schema: a `GraphQLSchema`. */
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

/** The signature of every resolver. */
interface ResolverSignature {
  /** Called with the parent object, the arguments of the field, the context of the request, and information about the operation. */
  resolve(parent: unknown, args: Record<string, unknown>, context: unknown, info: object): unknown
}

/**
 * Computes the value of one field. Parameters may have types of their own:
 * `(shop: Shop, args: { first: number }, context: Context) => …`.
 */
// Derived from a method, because the parameters of methods may be narrowed.
export type GraphqlResolver = ResolverSignature['resolve']

/** The functions of a field that has more than one: the source of its events, and the value for each event. */
export interface GraphqlFieldResolver {
  /** Returns the events of a subscription, as an async iterable. */
  subscribe?: GraphqlResolver
  /** Returns the value of the field; for a subscription, from one event. */
  resolve?: GraphqlResolver
}

/** The resolvers of one type, by field; for an enum, its values. */
export interface GraphqlTypeResolvers {
  readonly [field: string]: GraphqlResolver | GraphqlFieldResolver | string | number | boolean | object | null
}

/** A type made in code, such as a `GraphQLScalarType`. */
export interface ReadyType {
  /** The name of the type in the schema. */
  readonly name: string
  /** Returns the configuration from which the type was made. */
  toConfig(): object
}

/** Resolvers by type. */
export interface GraphqlResolvers {
  readonly [type: string]: GraphqlTypeResolvers | ReadyType
}

/** The parts from which a schema is made: text, files, and the functions of its fields. */
export interface SchemaSource {
  /** Type definitions in the schema language, as text or parsed. */
  typeDefs?: TypeDefs
  /** Globs of files in the schema language, absolute or relative to the working directory of the process; read at boot. */
  files?: string | readonly string[]
  /** The functions of the fields; a list is merged. */
  resolvers?: GraphqlResolvers | readonly GraphqlResolvers[]
}
