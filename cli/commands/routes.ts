import { relative } from 'node:path'
import type { ListedRoute, Middleware } from '../../kernel/index.ts'
import { nameOf } from '../../kernel/routing/middleware.ts'
import { methods } from '../../kernel/routing/pattern.ts'
import { guardsOf } from '../../plugins/shared/http/guards.ts'
import { handlerOf, methodOf } from '../../plugins/shared/terminal/tree.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { printTable } from '../columns.ts'
import { oneOf } from '../failure.ts'
import { onOff, ownCommand, text } from '../run/own-command.ts'

const shown = [...methods, 'WS'] as const

export const routes = ownCommand({
  details: `Imports the module that exports the server, without booting it. Lists its routes and the controllers of
controllerPatterns and, with --boot, the routes that plugins register in their setup. If it finds no routes without booting, it boots.`,
  flags: {
    ...applicationFlags,
    method: text('method', 'Shows only routes with this method'),
    path: text('path', 'Shows only routes whose path begins with this text'),
    boot: onOff('Boots the server to include the routes of its plugins, and closes it again'),
    json: onOff('Prints JSON, which includes where each route was registered'),
  },
  async run({ flags, print, note, boot }) {
    const method = flags.method && oneOf('routes: --method', flags.method, shown, flags.method.toUpperCase())
    const { server, entry } = await applicationOf(flags)
    if (!flags.boot) {
      const controllers = server.services.find('controllers')
      await controllers?.load(controllers.patterns, server.router, server.logger)
    }
    // All routes of an application of plugins are registered in their setup: without booting, there would be nothing to list.
    if (flags.boot || server.listing.routes.length === 0) await boot(server)
    else note('Not booted: routes that plugins register in their setup are not included (use --boot).')
    const all = server.listing.routes.map(describeRoute)
    const chosen = all.filter(
      (route) => (!method || route.method === method) && route.path.startsWith(flags.path ?? ''),
    )
    if (flags.json) return print(JSON.stringify(chosen, undefined, 2))
    printTable(chosen.map(rowOf), print)
    if (all.length === 0) note(`${entry} has no routes: do its modules import those that register them?`)
    else if (chosen.length === 0) note(`none of the ${all.length} routes of ${entry} matches`)
  },
})

const rowOf = (route: RouteDescription) => [route.method, route.path, route.handler, notesOf(route).join(' · ')]

const parts = ['headers', 'params', 'query', 'body', 'all'] as const
/** Options with a place of their own in a description, or without effect on the response. */
const known: readonly string[] = [...parts, 'middlewares', 'policy', 'cache', 'responses', 'apidoc']

/** A route as it was declared, as plain data. */
export type RouteDescription = ReturnType<typeof describeRoute>

export function describeRoute({ record, plugin, middlewares }: ListedRoute) {
  const options = record.options as { readonly [name: string]: unknown }
  const isSet = (name: string) => options[name] !== undefined && options[name] !== false
  const site = String(record.site)
  const own = (options.middlewares ?? []) as readonly Middleware[]
  return {
    method: methodOf(record),
    path: record.path,
    /** The plugin that registered it; `application` for the application itself. */
    owner: plugin,
    /** The name of the function, `Class.method` for a controller; the place of one without a name. */
    handler: handlerOf(record),
    /** The policies, each as `<scope>.<handler>`: those of the route, then those of guards of its server, plugins and groups. */
    policies: [options, ...guardsOf(middlewares)].flatMap(({ policy }) => policiesOf(policy)),
    /** The other middlewares by name: those of its groups, then its own. */
    middlewares: [...record.groupMiddlewares.flat(), ...own]
      .filter((one) => guardsOf([one]).length === 0)
      .map((one) => nameOf(one)),
    /** Which parts of a request have a schema. */
    validates: parts.filter(isSet),
    /** The statuses that have a schema. */
    responses: Object.keys((options.responses ?? {}) as object),
    cached: isSet('cache'),
    /** Its other options, by name. */
    options: Object.keys(options).filter((name) => isSet(name) && !known.includes(name)),
    /** Where it was registered: file, line and column. */
    at: site.startsWith('/') ? relative(process.cwd(), site) : site,
  }
}

/** The notes about a route in a table. */
export function notesOf({ owner, policies, validates, cached, middlewares, options }: RouteDescription): string[] {
  return [
    ...(owner === 'application' ? [] : [`by ${owner}`]),
    ...(policies.length === 0 ? [] : [`policy ${policies.join(', ')}`]),
    ...(validates.length === 0 ? [] : [`validates ${validates.join(', ')}`]),
    ...(cached ? ['cached'] : []),
    ...(middlewares.length === 0 ? [] : [`uses ${middlewares.join(', ')}`]),
    ...options,
  ]
}

const policiesOf = (policy: unknown) =>
  [(policy ?? []) as Policy | Policy[]].flat().map(({ scope, handler }) => `${scope}.${handler}`)

type Policy = Readonly<Record<'scope' | 'handler', string>>
