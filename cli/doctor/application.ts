import type { Listing, PluginNode } from '../../kernel/index.ts'
import { core } from '../../plugins/catalog.ts'
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

/** What is lost behind a proxy that is certain here: on a known platform, or if only this machine reaches the server. */
function lostBehindProxy({ server }: ProjectView): string | undefined {
  const name = Object.keys(platforms).find((one) => process.env[one])
  const { host, https } = server!.settings
  const isLocal = https === undefined && /^(localhost|127(\.\d+){3}|::1)$/.test(host)
  if (name === undefined && !isLocal) return undefined
  const why = name
    ? `${name} says that this is ${platforms[name]}`
    : `the server listens at ${host}, where only a proxy reaches it`
  return `${why}, so every client has the address of the proxy`
}

/** The check for a plugin that servers in production have; `why` returns what is lost without it, if that is anything. */
const expects = (
  plugin: string,
  level: ProjectCheck['level'],
  options: string,
  why: (view: ProjectView) => string | undefined,
): ProjectCheck => ({
  code: `application.no-${plugin.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  level,
  production: true,
  find(view) {
    const lost = has(view, plugin) ? undefined : why(view)
    if (lost === undefined) return undefined
    const remedy = `Add it: plugins: { ${plugin}: ${options} }`
    return { problem: `the plugin ${plugin} is missing: ${lost}`, remedy }
  },
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
  expects('helmet', 'warning', 'true', () => 'responses have none of the headers that protect pages'),
  expects('rateLimit', 'warning', 'true', () => 'one client can send any number of requests'),
  expects('cors', 'hint', "{ origin: 'https://…' }", () => 'pages of other origins cannot read the responses'),
  expects('trustProxy', 'warning', "{ trustedProxies: ['10.0.0.0/8'] }", lostBehindProxy),
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
