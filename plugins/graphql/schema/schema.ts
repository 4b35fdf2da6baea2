import type { DocumentNode, GraphQLSchema } from 'graphql'
import { defineError, isFrameworkError } from '../../../kernel/index.ts'
import { missingDefinitions } from '../cost/directives.ts'
import { isReady } from '../options.ts'
import type { Graphql, SchemaTools } from '../packages.ts'
import type { GraphqlResolvers, ReadySchema, SchemaSource, SdlDocument } from '../types.ts'
import { copiesError, isRealmError } from './duplicate-package.ts'

export const GraphqlSchemaError = defineError(
  'GraphqlSchemaError',
  (why: string) => `the schema of GraphQL cannot be built: ${why}`,
)

/** All parts of a schema at the time when it is built. */
export interface SchemaParts {
  readonly given: SchemaSource | ReadySchema
  /** The documents of the files. */
  readonly files: readonly SdlDocument[]
  readonly typeDefs: readonly string[]
  readonly resolvers: readonly GraphqlResolvers[]
}

/** The packages that build the schema; `tools` may be missing if a ready schema is given. */
export interface SchemaPackages {
  readonly graphql: Graphql
  readonly tools: SchemaTools | undefined
}

/**
 * Builds the schema, or extends a ready one with the additions.
 *
 * @throws GraphqlSchemaError with the mistake; GraphqlCopiesError when two copies of the package are mixed.
 */
export function buildSchema(packages: SchemaPackages, parts: SchemaParts): GraphQLSchema {
  const { graphql } = packages
  let schema: GraphQLSchema
  try {
    schema = isReady(parts.given) ? extend(packages, parts.given, parts) : make(packages, parts.given, parts)
  } catch (error) {
    if (isFrameworkError(error)) throw error
    const known = isRealmError(error) ? copiesError(graphql, 'a type') : GraphqlSchemaError(reasonOf(graphql, error))
    throw Object.assign(known, { cause: error })
  }
  if (!(schema instanceof graphql.GraphQLSchema)) {
    throw isReady(parts.given)
      ? copiesError(graphql, 'the schema')
      : copiesError(graphql, '@graphql-tools/schema', '@graphql-tools/schema')
  }
  const problems = graphql.validateSchema(schema)
  if (problems.length > 0)
    throw GraphqlSchemaError(
      problems
        .slice(0, 5)
        .map((one) => reasonOf(graphql, one))
        .join('; '),
    )
  return schema
}

function make({ graphql, tools }: SchemaPackages, given: SchemaSource, parts: SchemaParts): GraphQLSchema {
  const typeDefs = [...listOf(given.typeDefs), ...parts.files, ...parts.typeDefs]
  if (typeDefs.length === 0) throw new Error('there are no type definitions. Set schema.typeDefs, or add some')
  return tools!.makeExecutableSchema({
    typeDefs: [...typeDefs, ...missingDefinitions(graphql, typeDefs)] as (string | DocumentNode)[],
    resolvers: [...listOf(given.resolvers), ...parts.resolvers] as [],
  })
}

function extend({ graphql, tools }: SchemaPackages, given: ReadySchema, parts: SchemaParts): GraphQLSchema {
  if (!(given instanceof graphql.GraphQLSchema)) throw copiesError(graphql, 'the schema')
  if (parts.typeDefs.length === 0 && parts.resolvers.length === 0) return given
  if (tools === undefined) throw new Error('to extend a ready schema, install the package "@graphql-tools/schema"')
  return tools.mergeSchemas({
    schemas: [given],
    typeDefs: [...parts.typeDefs, ...missingDefinitions(graphql, parts.typeDefs, given)],
    resolvers: [...parts.resolvers] as [],
  })
}

function listOf<Item>(value: Item | readonly Item[] | undefined): readonly Item[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value as Item]
}

/** Describes the mistake and its place in the text. */
function reasonOf(graphql: Graphql, error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [place] = error instanceof graphql.GraphQLError ? (error.locations ?? []) : []
  return place === undefined ? error.message : `${error.message} (line ${place.line}, column ${place.column})`
}
