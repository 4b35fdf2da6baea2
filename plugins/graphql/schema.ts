import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DocumentNode, GraphQLSchema } from 'graphql'
import { defineError, defineErrors, isFrameworkError } from '../../kernel/index.ts'
import { findFiles } from '../shared/files/modules.ts'
import { readRegularFile } from '../shared/files/read-file.ts'
import { marksOf } from '../shared/schema/marks.ts'
import { messageOf, safely } from '../shared/values/safely.ts'
import { missingDefinitions } from './cost/directives.ts'
import { markedTypes } from './marks.ts'
import { isReady } from './options.ts'
import type { Graphql, SchemaTools } from './packages.ts'
import type { GraphqlResolvers, ReadySchema, SchemaSource, SdlDocument } from './types.ts'

const { GraphqlSchemaError } = defineErrors({
  GraphqlSchemaError: (why: string) => `the schema of GraphQL cannot be built: ${why}`,
})

/** All parts of a schema at the time when it is built. */
interface SchemaParts {
  readonly given: SchemaSource | ReadySchema
  /** The documents of the files. */
  readonly files: readonly SdlDocument[]
  readonly typeDefs: readonly string[]
  readonly resolvers: readonly GraphqlResolvers[]
}

/** The packages that build the schema; `tools` may be missing if a ready schema is given. */
interface SchemaPackages {
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
    const isMixed = messageOf(error).includes('from another module or realm')
    const known = isMixed ? copiesError(graphql, 'a type') : GraphqlSchemaError(reasonOf(graphql, error))
    throw Object.assign(known, { cause: error })
  }
  if (!(schema instanceof graphql.GraphQLSchema)) {
    throw isReady(parts.given)
      ? copiesError(graphql, 'the schema')
      : copiesError(graphql, '@graphql-tools/schema', '@graphql-tools/schema')
  }
  const problems = graphql.validateSchema(schema)
  // What has the name of a marked member is hidden from now on.
  for (const one of markedTypes(schema)) marksOf(one.schema)
  if (problems.length === 0) return schema
  const reasons = problems.slice(0, 5).map((one) => reasonOf(graphql, one))
  throw GraphqlSchemaError(reasons.join('; '))
}

function make({ graphql, tools }: SchemaPackages, given: SchemaSource, parts: SchemaParts): GraphQLSchema {
  const typeDefs = [given.typeDefs ?? [], parts.files, parts.typeDefs].flat(2)
  if (typeDefs.length === 0) throw new Error('there are no type definitions. Set schema.typeDefs, or add some')
  return tools!.makeExecutableSchema({
    typeDefs: [...typeDefs, ...missingDefinitions(graphql, typeDefs)] as (string | DocumentNode)[],
    resolvers: [given.resolvers ?? [], parts.resolvers].flat(2) as [],
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

/** Describes the mistake and its place in the text. */
function reasonOf(graphql: Graphql, error: unknown): string {
  const place = placeOf(graphql, error)
  return place === undefined ? messageOf(error) : `${messageOf(error)} (line ${place.line}, column ${place.column})`
}

const placeOf = (graphql: Graphql, error: unknown) =>
  error instanceof graphql.GraphQLError ? error.locations?.[0] : undefined

const GraphqlFileError = defineError('GraphqlFileError', (where: string, why: string) => `${where}: ${why}`)

/**
 * Reads and parses the files that match the globs, in the order of their paths.
 *
 * @throws GraphqlFileError for a glob that matches no file, and for a mistake in a file, with its line and column.
 */
export async function readSchemaFiles(graphql: Graphql, patterns: readonly string[]): Promise<SdlDocument[]> {
  const folder = process.cwd()
  const { files, unmatched } = await findFiles(patterns, folder)
  const [first] = unmatched
  if (first !== undefined) {
    throw GraphqlFileError(`schema.files "${first}"`, `no file matches below ${folder}. Correct the glob, or remove it`)
  }
  return Promise.all(
    files.map(async (file) =>
      parseFile(graphql, relative(folder, file), (await readRegularFile(file)).toString('utf8')),
    ),
  )
}

function parseFile(graphql: Graphql, name: string, text: string): SdlDocument {
  try {
    return graphql.parse(new graphql.Source(text, name))
  } catch (error) {
    const place = placeOf(graphql, error)
    const where = place === undefined ? name : `${name}:${place.line}:${place.column}`
    throw Object.assign(GraphqlFileError(where, messageOf(error)), { cause: error })
  }
}

const { GraphqlCopiesError } = defineErrors({
  GraphqlCopiesError: (what: string, ours: string, other: string) =>
    `${what} comes from a different copy of the package "graphql" than the one that the plugin loaded: ${ours} here, ${other} there. They must be the same: "npm ls graphql" shows which package depends on which, and "npm dedupe" or a single version in package.json merges them`,
})

const resolved = (from: string) => safely(() => createRequire(from).resolve('graphql'))
const resolvedBy = (name: string) => safely(() => resolved(createRequire(import.meta.url).resolve(name)))

/** Makes the error for a value from another copy of the package, with the paths of both copies as far as they can be found. */
export function copiesError(graphql: Graphql, what: string, owner?: string): Error {
  const own = resolved(import.meta.url)
  const theirs = owner === undefined ? resolved(pathToFileURL(`${process.cwd()}/`).href) : resolvedBy(owner)
  const ours = `version ${graphql.version}${own === undefined ? '' : ` (${own})`}`
  // The same path for both: one was loaded as a module and the other by require(), which some runtimes keep separate.
  const other =
    theirs === undefined
      ? 'a copy that cannot be found'
      : theirs === own
        ? 'the same file, loaded a second time'
        : theirs
  return GraphqlCopiesError(what, ours, other)
}
