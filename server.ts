import {
  ArgumentsError,
  checkOptions,
  type Inject,
  Kernel,
  type KernelOptions,
  type ServiceStore,
  type Services,
} from './kernel/index.ts'
import { catalog, catalogWithout } from './plugins/catalog.ts'
import type { CronSource } from './plugins/cron/index.ts'
import type { GraphqlService } from './plugins/graphql/index.ts'
import { kernelMembers, kernelSettings } from './plugins/kernel-options.ts'
import { members } from './plugins/members.ts'
import type { PolicyErrorHandler } from './plugins/policy/index.ts'
import {
  type CatalogOptions,
  type CheckedPlugins,
  type PluginListItem,
  type PluginsOption,
  type ProvidedBy,
  resolvePlugins,
} from './plugins/resolve.ts'
import { type ErrorFormat, errorFormat } from './plugins/shared/failures/format.ts'
import { type ExposeErrorDetails, setExposure } from './plugins/shared/failures/formatted-failures.ts'
import { announceMembers } from './plugins/shared/failures/missing-members.ts'
import { option } from './plugins/shared/options/index.ts'
import { knowWork } from './plugins/shared/work/kind.ts'
import { type MockMethods, MockServer, mockMethods } from './plugins/testing/plugin.ts'
import type { ValidationErrorHandler } from './plugins/validation/index.ts'

announceMembers(members.request, members.response)
for (const { plugin } of Object.values(catalog)) knowWork(plugin)

/** Options of a server: those of the kernel, its plugins, and the form of its error bodies. */
export interface ServerOptions extends KernelOptions {
  /**
   * The plugins of the server. As an object: keys of the catalog with their options (`true` for the defaults, `false` for off),
   * and any other key with a registration. As an array: registrations and middlewares, in order.
   */
  plugins?: PluginsOption
  /** Whether built-in error bodies have `cause` and, from status 500 on, `stack`; `'auto'`: if `NODE_ENV` is `development`. Default false; applies to all servers. */
  exposeErrorDetails?: ExposeErrorDetails
  /**
   * The form of the body of every failure: `'problem'` for Problem Details (RFC 9457), or a function
   * `(failure, req) => body`. Default `{ code, message }`. Handlers for failures take precedence.
   */
  errorFormat?: ErrorFormat
  /**
   * Globs of the files that export controllers, absolute or relative to the working folder of the process. The files are
   * imported at boot; one that cannot be loaded fails the boot.
   */
  controllerPatterns?: readonly string[]
  /** Short for the plugin `graphql` with these options: `{ schema: { typeDefs, resolvers }, apolloOptions }`. */
  graphql?: CatalogOptions<'graphql'>
  /** Background work while the server listens. */
  background?: BackgroundOptions
}

/** Background work. */
export interface BackgroundOptions {
  /** Short for the plugin `cron` with the option `crons`: globs of job files, classes, handles, and jobs `{ schedule, handler, options }`. */
  crons?: readonly CronSource[]
  /** Short for the plugin `queues` with these options: `{ config, run: true }`. */
  queues?: CatalogOptions<'queues'>
  /** Short for the plugin `mqtt` with these options: `{ connect, subscribe }`. */
  mqtt?: CatalogOptions<'mqtt'>
}

/** Options of a separate test client. */
export interface MockServerOptions {
  /** Globs, as in the server option of the same name; the files are loaded with the first request. */
  controllerPatterns?: readonly string[]
}

/** The plugins read their options themselves. */
const unread = <Value>() => option.value<Value>('')

const serverOptions = option
  .shape({
    ...kernelMembers,
    plugins: unread<PluginsOption>(),
    // Otherwise a string such as 'false' would expose the details.
    exposeErrorDetails: option.oneOf(true, false, 'auto').default(false),
    errorFormat,
    controllerPatterns: unread<readonly string[]>(),
    graphql: unread<CatalogOptions<'graphql'>>(),
    background: option.shape({
      crons: unread<readonly CronSource[]>(),
      queues: unread<CatalogOptions<'queues'>>(),
      mqtt: unread<CatalogOptions<'mqtt'>>(),
    }),
  })
  .into(({ plugins, exposeErrorDetails, errorFormat, controllerPatterns, graphql, background, ...rest }, place) => ({
    own: { plugins, exposeErrorDetails, controllerPatterns, graphql, background },
    settings: { ...kernelSettings(rest, place), errorFormat },
  }))

type PluginsOf<Given> = Given extends readonly unknown[]
  ? Given
  : Given extends { readonly plugins: infer Plugins }
    ? Plugins
    : {}

/** What the given options are checked against. The first branch is never taken: `Given` is inferred from it. */
type Checked<Given> = [Given] extends [never]
  ? Given
  : [keyof Given] extends [never]
    ? ServerOptions | readonly PluginListItem[]
    : Given extends readonly unknown[]
      ? readonly PluginListItem[]
      : Given extends { readonly plugins: infer Plugins }
        ? Omit<ServerOptions, 'plugins'> & { plugins: CheckedPlugins<Plugins> }
        : ServerOptions

/**
 * An HTTP server made of plugins.
 *
 * @example
 * const server = new Server({ port: 3000, plugins: { cors: { origin: '*' } } })
 * server.get('/hello', () => ({ hello: 'world' }))
 * await server.listen()
 */
export class Server<const Given extends object = {}, out Provided = ProvidedBy<PluginsOf<Given>>> extends Kernel {
  /** Requests without a socket, on one shared instance: `server.inject.get('/users')`. */
  declare readonly inject: Inject & MockMethods

  // One signature for each number of arguments: of several, the compiler reports only the last one, and in the wrong place.
  constructor()
  constructor(options: Checked<Given>)
  constructor(options?: Checked<Given>, ...more: never[]) {
    // A second object would be dropped, with all the guards in it.
    if (more.length > 0 || options === null)
      throw ArgumentsError('new Server', 'one object of options, or one list of plugins and middlewares')
    const given = (Array.isArray(options) ? { plugins: options } : (options ?? {})) as ServerOptions
    const { own, settings } = serverOptions.parse(given)
    const { plugins, exposeErrorDetails, controllerPatterns, graphql, background } = own
    const turnedOff = Object.entries(plugins ?? {}).flatMap(([key, value]) => (value === false ? [key] : []))
    super({ ...settings, catalog: catalogWithout(new Set(turnedOff)) })
    setExposure(exposeErrorDetails)
    Object.assign(this.inject, mockMethods(this.inject))
    const { crons, queues, mqtt } = background
    const cron = crons === undefined ? undefined : { crons }
    const registrations = resolvePlugins(plugins, { graphql, cron, queues, mqtt })
    this.registerAll(registrations)
    super.services.get('controllers').add('controllerPatterns', controllerPatterns)
  }

  override get services(): ServiceStore & Partial<Services> & Provided {
    return super.services as ServiceStore & Partial<Services> & Provided
  }

  /**
   * The GraphQL schema, which can be extended until the first request.
   *
   * @throws ServiceMissingError where the plugin `graphql` is not registered.
   * @example
   * server.graphql.addTypeDef('extend type Query { hello: String }').addResolver('Query', { hello: () => 'world' })
   */
  get graphql(): GraphqlService {
    return super.services.get('graphql')
  }

  /**
   * Sets the handler for requests that a policy refuses, which otherwise get 401 `{ error: 'Unauthorized' }`; it can be set at any time.
   *
   * @example
   * server.setPolicyErrorHandler((req, res) => res.forbidden({ error: `no access to ${req.path}` }))
   * server.setPolicyErrorHandler({ status: 403, map: (req) => ({ error: 'Forbidden', id: req.id }) })
   */
  setPolicyErrorHandler(handler: PolicyErrorHandler): this {
    super.services.get('policy').setHandler(handler)
    return this
  }

  /**
   * Sets the handler for invalid requests, which otherwise get 422 `ValidationError`; it can be set at any time.
   *
   * @example
   * server.setValidationErrorHandler((req, res, error) => res.badRequest({ problems: error.errors }))
   * server.setValidationErrorHandler({ status: 400, map: (error) => ({ problems: error.errors }) })
   */
  setValidationErrorHandler(handler: ValidationErrorHandler): this {
    super.services.get('validation').setHandler(handler)
    return this
  }

  /**
   * Returns a separate test client.
   *
   * @throws OptionError for patterns that are not a list; a file that cannot be loaded fails its requests.
   * @example
   * const client = server.getMockServer({ controllerPatterns: ['src/controllers/*.ts'] })
   * await client.get('/users')
   */
  getMockServer(options: MockServerOptions = {}): MockServer {
    checkOptions('getMockServer', options, ['controllerPatterns'])
    const files = super.services.get('controllers')
    const patterns = files.check('controllerPatterns', options.controllerPatterns)
    if (patterns.length === 0) return new MockServer(this.inject)
    return new MockServer(this.inject, () => files.load(patterns, this.router, this.logger))
  }
}
