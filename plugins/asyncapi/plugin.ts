import { defineErrors, definePlugin, type Kernel } from '../../kernel/index.ts'
import { DocumentService } from '../shared/descriptions/document-service.ts'
import { announcePage } from '../shared/development/pages.ts'
import { publicPageCheck, warnOfPublicPage } from '../shared/doctor/public-page.ts'
import { asyncapiOptions, unguarded } from './options.ts'
import type { AsyncApiDocument, MessageDescription } from './types.ts'

export { contributionsOf, exchangesOf } from './document/contributions.ts'

const { AsyncApiBeforeBootError } = defineErrors({
  AsyncApiBeforeBootError: () =>
    'the messages of a server are unknown before boot. Call await server.ready() first, or use describeMessages(server) of framework/plugins/asyncapi',
})

/**
 * Describes the messages that the server exchanges, in AsyncAPI 3.0: JSON at `/asyncapi.json`, YAML at `/asyncapi.yaml`.
 *
 * Websockets are described from the options of their routes, queues and MQTT subscriptions from the declarations of their subscribers.
 *
 * @example
 * new Server({ plugins: { asyncapi: { info: { title: 'Rooms', version: '1.0.0' } }, websocket: true } })
 */
export const asyncapi = definePlugin({
  name: 'asyncapi',
  access: { routes: true },
  options: asyncapiOptions,
  doctor: async () => [publicPageCheck('asyncapi.public', unguarded)],
  provide: (): { asyncapi: MessageDescription } => ({
    asyncapi: new DocumentService<AsyncApiDocument>(AsyncApiBeforeBootError),
  }),
  async setup(ctx, settings) {
    const { path, routeOptions, description } = settings
    warnOfPublicPage(ctx, unguarded(settings, ctx.prefix))
    // Loaded here rather than on import: a server without this plugin should not load them.
    const [{ describeContributions }, { checkFragments, contributionsOf, partsOf }] = await Promise.all([
      import('./document/describe.ts'),
      import('./document/contributions.ts'),
    ])
    const describing = {
      state: (server: Kernel) => [server.listing, ...partsOf(contributionsOf(server))],
      describe: (server: Kernel) => describeContributions(server, contributionsOf(server), description),
    }
    ctx.services.get('asyncapi').serve(ctx, describing, `${path}.`, routeOptions)
    ctx.onReady(() => checkFragments(ctx.server.listing.plugins))
    announcePage(ctx.server, 'Message description', `${ctx.prefix}${path}.json`)
  },
})
