import { createRequire } from 'node:module'
import type { GraphQLSchema } from 'graphql'
import { type Logger, Trace } from '../../../kernel/index.ts'
import { peer, peers } from '../../shared/environment/optional-package.ts'
import { exposesMistakes } from '../../shared/failures/formatted-failures.ts'
import { costLimit } from '../cost/limit.ts'
import type { Engine } from '../http/handler.ts'
import { type GraphqlSettings, isReady } from '../options.ts'
import type { Graphql, SchemaTools } from '../packages.ts'
import { buildSchema, readSchemaFiles } from '../schema.ts'
import type { GraphqlService } from '../service.ts'
import { operationFinder } from './documents.ts'
import { compiler, executor } from './execute.ts'
import { type Refusal, refuse } from './refusal.ts'
import type { GraphqlResolverTrace } from './trace-events.ts'

/** Loads the packages, passes the function that builds the schema to the service, and returns the one that makes the engine, once. */
export async function openEngine(
  settings: GraphqlSettings,
  service: GraphqlService,
  streams: Engine['streams'],
  log: Logger,
): Promise<() => Engine | Refusal> {
  const { schema: given, limits, cost, introspection, keepAlive } = settings
  const [imported, tools, jit] = await peers(
    peer('graphql', () => import('graphql'), 'the graphql plugin'),
    loadTools(isReady(given)),
    settings.jit === undefined
      ? undefined
      : peer('graphql-jit', () => import('graphql-jit'), 'the graphql plugin (option "jit")'),
    // Used in another module, but loaded here, so that one error lists all missing packages.
    settings.websocket && peer('graphql-ws', () => import('graphql-ws'), 'the graphql plugin (option "websocket")'),
  )
  const graphql = copyOf(isReady(given) ? given : tools?.makeExecutableSchema({ typeDefs: sample }), imported)
  const files = isReady(given) ? [] : await readSchemaFiles(graphql, [given.files ?? []].flat())
  service.supply((typeDefs, resolvers) => buildSchema({ graphql, tools }, { given, files, typeDefs, resolvers }))

  const open = (): Engine | Refusal => {
    try {
      // It was made by buildSchema above, which returns nothing else.
      const schema = service.schema as GraphQLSchema
      traceResolvers(graphql, schema)
      const run = executor(graphql, schema, jit && compiler(jit), settings.jit)
      const costs = cost && costLimit(graphql, schema, cost)
      const find = operationFinder({ graphql, schema, run, limits, introspection, cost: costs })
      return { graphql, schema, find, streams, keepAlive, hints: introspection }
    } catch (error) {
      log.error({ err: error }, 'GraphQL: the schema cannot be built, so every request gets a 500')
      const message = exposesMistakes() && error instanceof Error ? error.message : 'Internal server error'
      return refuse(500, message, 'INTERNAL_SERVER_ERROR')
    }
  }
  let opened: Engine | Refusal | undefined
  return () => {
    opened ??= open()
    return opened
  }
}

const sample = 'type Query { a: Int }'

/**
 * Returns the copy of the package to which a schema belongs. If Vitest or a bundler resolves the imports of this file, it loads a separate
 * copy, while the tools load theirs by `require`. A schema that belongs to neither is reported when it is built.
 */
function copyOf(schema: unknown, imported: Graphql): Graphql {
  if (schema === undefined || schema instanceof imported.GraphQLSchema) return imported
  // The package exists, since it was imported.
  const name = 'graphql'
  const required = createRequire(import.meta.url)(name) as Graphql
  return schema instanceof required.GraphQLSchema ? required : imported
}

const resolverTrace = new Trace<GraphqlResolverTrace>('graphql.resolver')
const traced = new WeakSet<GraphQLSchema>()

/** Makes the resolvers of a schema publish traces, if there is a subscriber when it is built; except for trivial default resolvers. */
function traceResolvers(graphql: Graphql, schema: GraphQLSchema): void {
  if (!resolverTrace.isOn || traced.has(schema)) return
  traced.add(schema)
  for (const type of Object.values(schema.getTypeMap())) {
    if (!graphql.isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field
      if (resolve === undefined) continue
      field.resolve = (source, args, context, info) =>
        resolverTrace.run(
          () => ({ type: type.name, field: field.name, info }),
          () => resolve(source, args, context, info),
        )
    }
  }
}

/** Loads the tools, without which a ready schema can do as long as nothing is added to it. */
async function loadTools(canDoWithout: boolean): Promise<SchemaTools | undefined> {
  try {
    return await peer('@graphql-tools/schema', () => import('@graphql-tools/schema'), 'the graphql plugin')
  } catch (error) {
    if (canDoWithout && (error as { code?: unknown }).code === 'PeerMissingError') return undefined
    throw error
  }
}
