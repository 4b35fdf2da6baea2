import { defineErrors, definePlugin } from '../../kernel/index.ts'
import { announcePage } from '../shared/development/pages.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { GraphqlOperationTrace, GraphqlResolverTrace } from './execution/trace-events.ts'
import { graphqlOptions } from './options.ts'
import { GraphqlService } from './service.ts'

export { markedTypes } from './marks.ts'

const work: readonly WorkKind[] = [
  workKind<GraphqlOperationTrace>({
    channel: 'graphql.operation',
    list: { id: 'graphql', title: 'GraphQL' },
    help: 'GraphQL operations',
    // The client chooses the operation's name, so it does not become the name of the span.
    span: ({ type }) => type,
    title: ({ name }) => name ?? '(anonymous)',
    note: ({ type }) => type,
    data: ({ type, name }) => ({ type, name }),
    labels: { type: { attribute: 'graphql.operation.type', of: ({ type }) => type } },
    attributes: ({ name }) => ({ 'graphql.operation.name': name?.slice(0, 256) }),
  }),
  workKind<GraphqlResolverTrace>({
    channel: 'graphql.resolver',
    form: 'part',
    span: ({ type, field }) => `resolve ${type}.${field}`,
    title: ({ type, field }) => `${type}.${field}`,
  }),
]

const { WebsocketMissingError } = defineErrors({
  WebsocketMissingError: () =>
    'the option graphql.websocket needs the plugin "websocket", which is not registered. Register it: plugins: { websocket: true }',
})

/**
 * Handles GraphQL requests at `/graphql`, following the specifications of GraphQL over HTTP and over server-sent events; needs the
 * packages `graphql` and `@graphql-tools/schema`.
 *
 * The schema is built at the first request; until then, `server.graphql` can add to it. Documents are limited in depth, aliases,
 * directives and tokens; requests that a page of another origin could have sent are refused; error messages are hidden unless the
 * error is a `GraphQLError`. Outside of production, browsers receive GraphiQL.
 *
 * @example
 * const schema = { typeDefs: 'type Query { hello: String! }', resolvers: { Query: { hello: () => 'world' } } }
 * new Server({ plugins: { graphql: { schema } } })
 */
export const graphql = definePlugin({
  name: 'graphql',
  access: { routes: true },
  // Parses the bodies.
  dependencies: ['json'],
  options: graphqlOptions,
  doctor: async () => (await import('./doctor.ts')).checks,
  work,
  provide: () => ({ graphql: new GraphqlService() }),
  async setup(ctx, settings) {
    // Loaded here, so that only servers with this plugin load the GraphQL modules.
    const [{ openEngine }, { handlersOf }] = await Promise.all([
      import('./execution/engine.ts'),
      import('./http/handler.ts'),
    ])
    const page = settings.graphiql ? (await import('./page/page.ts')).openPage() : undefined
    const streams = new Set<() => void>()
    const engine = await openEngine(settings, ctx.services.get('graphql'), streams, ctx.log)
    ctx.onDrain(() => {
      for (const end of streams) end()
    })
    // Checked here rather than in a ready hook: the route has an option of that plugin and would fail first, with an error only about it.
    if (settings.websocket && !ctx.hasPlugin('websocket')) throw WebsocketMissingError()
    const sockets = settings.websocket && (await import('./http/websocket.ts'))
    const { csrfPrevention, context } = settings
    const websocket = sockets && {
      websocket: await sockets.openSockets({ engine, context, settings: settings.websocket! }),
      socket: { protocols: [sockets.subProtocol], slowReaders: 'wait' as const },
    }
    const { get, post } = handlersOf({ engine, csrfPrevention, context, page: page?.answer })
    ctx.get('/graphql', { apidoc: false, ...settings.route, ...websocket }, get)
    ctx.post('/graphql', { apidoc: false, ...settings.route }, post)
    announcePage(ctx.server, page === undefined ? 'GraphQL' : 'GraphiQL', `${ctx.prefix}/graphql`)
    if (page !== undefined) ctx.get('/graphql/assets/:file', { apidoc: false, log: false }, page.asset)
  },
})
