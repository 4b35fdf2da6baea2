import type { Listing, PluginNode } from '../../kernel/index.ts'
import { core } from '../../plugins/catalog.ts'
import type { DoctorFinding } from '../../plugins/shared/doctor/check.ts'
import type { ProjectCheck, ProjectView } from './view.ts'

type Listed = Listing['plugins'][number]

const has = ({ server }: ProjectView, plugin: string) =>
  server === undefined || server.listing.plugins.some(({ definition }) => definition.name === plugin)

/** The variables that identify platforms with a proxy before every application. */
const platforms: Readonly<Record<string, string>> = {
  KUBERNETES_SERVICE_HOST: 'Kubernetes',
  DYNO: 'Heroku',
  FLY_APP_NAME: 'Fly.io',
  RENDER: 'Render',
  RAILWAY_ENVIRONMENT: 'Railway',
  K_SERVICE: 'Cloud Run',
  WEBSITE_SITE_NAME: 'Azure App Service',
  AWS_EXECUTION_ENV: 'AWS',
}

/** Why there must be a proxy before the server, if that can be determined here. */
function proxyOf({ server }: ProjectView): string | undefined {
  const name = Object.keys(platforms).find((one) => process.env[one])
  if (name !== undefined) return `${name} says that this is ${platforms[name]}`
  const { host, https } = server!.settings
  const isLocal = /^(localhost|127(\.\d+){3}|::1)$/.test(host)
  return isLocal && https === undefined ? `the server listens at ${host}, where only a proxy reaches it` : undefined
}

const missing = (plugin: string, why: string): DoctorFinding => ({
  problem: `the plugin ${plugin} is missing: ${why}`,
  remedy: `Add it: plugins: { ${plugin}: ${plugin === 'trustProxy' ? "{ trustedProxies: ['10.0.0.0/8'] }" : plugin === 'cors' ? "{ origin: 'https://…' }" : 'true'} }`,
})

/** All plugins in the order of the listing. */
const nodesOf = (node: PluginNode): PluginNode[] => node.children.flatMap((child) => [child, ...nodesOf(child)])

const optionsOf = ({ definition }: Listed) => Object.keys((definition.routeOptions as object | undefined) ?? {})

/** Whether a plugin has an effect only for routes with its options, and no route has any. Its other effects are unknown. */
function waitsInVain(plugin: Listed, node: PluginNode, { routes, plugins }: Listing): boolean {
  const { name } = plugin.definition
  const own = optionsOf(plugin)
  const hooks = node.hooks.filter((hook) => !['onRoute', 'onReady', 'onClose'].includes(hook))
  const does = [node.services, node.middlewares, node.routes, node.children, hooks].some(({ length }) => length > 0)
  if (own.length === 0 || does || core.some((one) => one.plugin.name === name)) return false
  if (plugins.some(({ definition }) => definition.dependencies?.includes(name))) return false
  return !routes.some(
    ({ record, reachedBy }) =>
      reachedBy.get(name) === plugin &&
      own.some((option) => (record.options as Readonly<Record<string, unknown>>)[option] !== undefined),
  )
}

const readers = ['urlencoded', 'upload', 'methodOverride']

export const applicationChecks: readonly ProjectCheck[] = [
  {
    code: 'application.no-helmet',
    level: 'warning',
    production: true,
    find: (view) =>
      has(view, 'helmet') ? undefined : missing('helmet', 'answers have none of the headers that protect pages'),
  },
  {
    code: 'application.no-rate-limit',
    level: 'warning',
    production: true,
    find: (view) =>
      has(view, 'rateLimit') ? undefined : missing('rateLimit', 'one client can ask as often as it likes'),
  },
  {
    code: 'application.no-cors',
    level: 'hint',
    production: true,
    find: (view) =>
      has(view, 'cors') ? undefined : missing('cors', 'no page of another origin can read a response, if one should'),
  },
  {
    code: 'application.no-trust-proxy',
    level: 'warning',
    production: true,
    find(view) {
      const why = has(view, 'trustProxy') ? undefined : proxyOf(view)
      return why === undefined
        ? undefined
        : missing('trustProxy', `${why}, so that every client has the address of the proxy`)
    },
  },
  {
    code: 'application.unused-plugin',
    level: 'hint',
    find({ server, booted }) {
      if (server === undefined || !booted) return undefined
      const { listing, plugins } = server
      const nodes = nodesOf(plugins)
      const inVain = listing.plugins
        .filter((plugin, at) => waitsInVain(plugin, nodes[at]!, listing))
        .map((plugin) => [plugin.definition.name, `no route has its option ${optionsOf(plugin).join(' or ')}`] as const)
      // Without a route, middlewares answer.
      const hasBodies =
        listing.routes.length === 0 ||
        listing.routes.some(({ record }) => !['GET', 'HEAD', 'OPTIONS'].includes(record.method))
      const unread = listing.plugins
        .filter(({ definition }) => !hasBodies && readers.includes(definition.name))
        .map(({ definition }) => [definition.name, 'no route takes a body'] as const)
      return [...inVain, ...unread].map(([name, why]) => ({
        problem: `nothing uses the plugin ${name}: ${why}`,
        remedy: 'Remove it, or use it',
        about: name,
      }))
    },
  },
]
