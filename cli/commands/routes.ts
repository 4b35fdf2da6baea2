import { methods } from '../../kernel/routing/pattern.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { describeRoute, notesOf, type RouteDescription } from '../application/route-description.ts'
import { printTable } from '../columns.ts'
import { wrongUsage } from '../failure.ts'
import { ownCommand } from '../run/own-command.ts'

export const routes = ownCommand({
  details: `Imports the module that exports the server, without booting it or listening. Controllers of controllerPatterns are
included. Routes that plugins register in their setup are known only after boot: use --boot. An application without other routes
is booted anyway.`,
  flags: {
    ...applicationFlags,
    method: { type: 'string', value: 'method', description: 'Shows only routes with this method' },
    path: { type: 'string', value: 'path', description: 'Shows only routes whose path begins with this' },
    boot: { type: 'boolean', description: 'Boots the server, for the routes of its plugins, and closes it again' },
    json: { type: 'boolean', description: 'Prints JSON, which includes where each route was registered' },
  },
  async run({ flags, print, note, boot }) {
    const method = methods.find((one) => one === flags.method?.toUpperCase())
    if (flags.method !== undefined && method === undefined) {
      throw wrongUsage(`routes: --method takes one of ${methods.join(', ')}, not "${flags.method}"`)
    }
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
      (route) => (method === undefined || route.method === method) && route.path.startsWith(flags.path ?? ''),
    )
    if (flags.json) return print(JSON.stringify(chosen, undefined, 2))
    printTable(chosen.map(rowOf), print)
    if (all.length === 0) note(`${entry} has no routes: do its modules import those that register them?`)
    else if (chosen.length === 0) note(`none of the ${all.length} routes of ${entry} matches`)
  },
})

const rowOf = (route: RouteDescription) => [route.method, route.path, route.handler, notesOf(route).join(' · ')]
