import { defineError, definePlugin } from '../../kernel/index.ts'
import { announcePage } from '../toolkit/pages.ts'
import { getDoc, postDoc } from './http/apidoc.ts'
import { graphqlOptions } from './options.ts'
import { GraphqlService } from './service.ts'

const WebsocketMissingError = defineError(
  'WebsocketMissingError',
  500,
  () =>
    'the option graphql.websocket needs the plugin "websocket", which is not registered. Register it: plugins: { websocket: true }',
)

/**
 * Answers GraphQL at `/graphql`, by the specification of GraphQL over HTTP and over server-sent events; needs the packages
 * `graphql` and `@graphql-tools/schema`.
 *
 * The schema is built at the first request. `server.graphql` adds to it until then. Documents are limited in depth,
 * aliases, directives and tokens; requests of foreign pages are refused; the messages of errors are hidden unless they are a
 * `GraphQLError`. Browsers receive GraphiQL outside of production.
 *
 * @example
 * const schema = { typeDefs: 'type Query { hello: String! }', resolvers: { Query: { hello: () => 'world' } } }
 * new Server({ plugins: { graphql: { schema } } })
 */
export const graphql = definePlugin({
  name: 'graphql',
  // Reads the bodies.
  dependencies: ['json'],
  options: graphqlOptions,
  doctor: async () => (await import('./doctor.ts')).checks,
  inspector: async () => (await import('./inspector.ts')).panels,
  provide: () => ({ graphql: new GraphqlService() }),
  async setup(ctx, settings) {
    // Loads the modules of GraphQL only where it is used.
    const { openHandler } = await import('./execution/engine.ts')
    const page = settings.graphiql ? (await import('./page/page.ts')).openPage() : undefined
    const handler = await openHandler(settings, ctx.services.get('graphql'), page, ctx.log)
    // Here and not in a ready hook: the route, which has an option of that plugin, would fail first, with an error about the option alone.
    if (settings.websocket && !ctx.hasPlugin('websocket')) throw WebsocketMissingError()
    const sockets = settings.websocket && (await import('./http/websocket.ts'))
    const websocket = sockets && {
      websocket: await sockets.openSockets({ ...handler.shared, settings: settings.websocket! }),
      socket: { protocols: [sockets.subProtocol], slowReaders: 'wait' as const },
    }
    ctx.get('/graphql', { apidoc: getDoc, ...settings.route, ...websocket }, handler.get)
    ctx.post('/graphql', { apidoc: postDoc, ...settings.route }, handler.post)
    announcePage(ctx.server, page === undefined ? 'GraphQL' : 'GraphiQL', `${ctx.prefix}/graphql`)
    if (page !== undefined) ctx.get('/graphql/assets/:file', { apidoc: false, log: false }, page.asset)
  },
})
