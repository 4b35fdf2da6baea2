import type { GraphQLSchema } from 'graphql'
import { exposesDetails, type Logger, peer } from '../../kernel/index.ts'
import { Compiler } from './compile.ts'
import { Documents } from './documents.ts'
import { Executors } from './execute.ts'
import { readSchemaFiles } from './files.ts'
import { type Engine, GraphqlHandler } from './handler.ts'
import { type GraphqlSettings, isReady } from './options.ts'
import type { SchemaTools } from './packages.ts'
import type { GraphiqlPage } from './page.ts'
import { type Refusal, refuse } from './refusal.ts'
import { buildSchema } from './schema.ts'
import type { GraphqlService } from './service.ts'
import { EventAnswers } from './subscribe.ts'

/** Loads the packages, hands the service what it builds with, and makes the handler of requests. */
export async function openHandler(
  settings: GraphqlSettings,
  service: GraphqlService,
  page: GraphiqlPage | undefined,
  log: Logger,
): Promise<GraphqlHandler> {
  const { schema: given, limits, introspection, keepAlive, csrfPrevention, context } = settings
  const graphql = await peer('graphql', () => import('graphql'), 'the graphql plugin')
  const tools = await loadTools(isReady(given))
  const jit =
    settings.jit === undefined
      ? undefined
      : await peer('graphql-jit', () => import('graphql-jit'), 'the graphql plugin (option "jit")')
  const files = isReady(given) ? [] : await readSchemaFiles(graphql, [given.files ?? []].flat())
  service.supply((typeDefs, resolvers) => buildSchema({ graphql, tools }, { given, files, typeDefs, resolvers }))

  let opened: Engine | Refusal | undefined
  const open = (): Engine | Refusal => {
    try {
      // Made by buildSchema above, which makes nothing else.
      const schema = service.schema as GraphQLSchema
      const executors = new Executors(graphql, schema, jit && new Compiler(jit), settings.jit)
      const documents = new Documents(graphql, schema, executors, { limits, introspection })
      return {
        graphql,
        documents,
        events: new EventAnswers(graphql, schema, keepAlive, introspection),
        hints: introspection,
      }
    } catch (error) {
      log.error({ err: error }, 'GraphQL: every request is answered 500, for the schema cannot be built')
      const message = exposesDetails() && error instanceof Error ? error.message : 'Internal server error'
      return refuse(500, message, 'INTERNAL_SERVER_ERROR')
    }
  }
  const engine = () => {
    opened ??= open()
    return opened
  }
  return new GraphqlHandler({ engine, csrfPrevention, context, page: page?.answer })
}

/** A ready schema can do without, as long as nothing is added to it. */
async function loadTools(canDoWithout: boolean): Promise<SchemaTools | undefined> {
  try {
    return await peer('@graphql-tools/schema', () => import('@graphql-tools/schema'), 'the graphql plugin')
  } catch (error) {
    if (canDoWithout && (error as { code?: unknown }).code === 'PeerMissingError') return undefined
    throw error
  }
}
