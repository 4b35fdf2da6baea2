import { defineErrors, definePlugin, type Kernel } from '../../kernel/index.ts'
import { DocumentService } from '../shared/descriptions/document-service.ts'
import { announcePage } from '../shared/development/pages.ts'
import { publicPageCheck, warnOfPublicPage } from '../shared/doctor/public-page.ts'
import { describedFormat } from '../shared/failures/formatted-failures.ts'
import { apidocOfRoute } from './apidoc.ts'
import { openapiOptions, unguarded } from './options.ts'
import type { ApiDescription, OpenApiDocument } from './types.ts'

const { OpenApiBeforeBootError } = defineErrors({
  OpenApiBeforeBootError: () =>
    'the description of a server is not available before boot. Call await server.ready() first, or use describeServer(server) of framework/plugins/openapi',
})

/**
 * Describes the routes in OpenAPI 3.1.1: JSON at `/docs/json`, YAML at `/docs/yaml`, and a page for trying them out at `/docs`.
 *
 * The description comes from the options of the routes: schemas, `responses` and policies, with `apidoc` merged over them. The
 * page loads nothing from another host.
 *
 * @example
 * new Server({ plugins: { openapi: { info: { title: 'Library', version: '1.0.0' } } } })
 */
export const openapi = definePlugin({
  name: 'openapi',
  access: { routes: true },
  options: openapiOptions,
  routeOptions: { apidoc: apidocOfRoute },
  doctor: async () => [publicPageCheck('openapi.public', unguarded)],
  provide: (): { openapi: ApiDescription } => ({
    openapi: new DocumentService<OpenApiDocument>(OpenApiBeforeBootError),
  }),
  async setup(ctx, settings) {
    const { path, ui, routeOptions, description } = settings
    warnOfPublicPage(ctx, unguarded(settings, ctx.prefix))
    // Not on import: a server without a description should not load these modules.
    const { describeListing, checkPlugins } = await import('./document/describe.ts')
    const service = ctx.services.get('openapi')
    const describing = {
      state: ({ listing }: Kernel) => [listing],
      describe: ({ listing, settings }: Kernel) =>
        describeListing(listing, description, describedFormat(settings.errorFormat)),
    }
    service.serve(ctx, describing, `${path}/`, routeOptions)
    ctx.onReady(() => void checkPlugins(ctx.server.listing.plugins, description))
    announcePage(ctx.server, ui ? 'API docs' : 'API description', `${ctx.prefix}${path}${ui ? '' : '/json'}`)
    if (!ui) return
    const { pageRoutes } = await import('./page/routes.ts')
    const { page, asset } = pageRoutes(service, `${ctx.prefix}${path}`)
    ctx.get(path, routeOptions, page)
    ctx.get(`${path}/ui/:file`, routeOptions, asset)
  },
})
