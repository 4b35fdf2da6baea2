import { parseTarget } from '../../kernel/http/request/target.ts'
import type { Explanation, Kernel } from '../../kernel/index.ts'
import { methods } from '../../kernel/routing/pattern.ts'
import { nearestRoutes } from '../../plugins/shared/failures/nearest-routes.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { columns } from '../columns.ts'
import { CommandFailure, oneOf, wrongUsage } from '../failure.ts'
import { widthOf } from '../output.ts'
import { onOff, ownCommand } from '../run/own-command.ts'

export const explain = ownCommand({
  details: `Boots the application without listening, and closes it again. If no route matches, it shows the steps before the 404 or
405, and the exit code is 1.`,
  arguments: [
    { name: 'method', description: 'GET, POST, …', required: true },
    { name: 'path', description: 'The path as a client sends it: /books/5', required: true },
  ],
  flags: { ...applicationFlags, json: onOff('Prints JSON') },
  async run({ arguments: { path, method: typed }, flags, print, boot }) {
    const method = oneOf('explain: <method>', typed, methods, typed.toUpperCase())
    if (!path.startsWith('/')) throw wrongUsage(`explain: <path> takes a path such as /books/5, not "${path}"`)
    const { server } = await applicationOf(flags)
    await boot(server)
    const explanation = server.explain(method, path)
    const allow = methods.filter((one) => server.explain(one, path).route?.startsWith(`${one} `))
    if (flags.json) print(JSON.stringify({ ...explanation, route: explanation.route ?? null, allow }, undefined, 2))
    else for (const line of linesOf(explanation)) print(line)
    if (explanation.route === undefined) throw new CommandFailure(whyNot(server, explanation, method, path, allow))
  },
})

function linesOf({ route, params, steps }: Explanation): string[] {
  const rows = steps.map(({ slot, name, plugin, scope }) => [
    slot,
    name,
    plugin === 'application' ? '' : `by ${plugin}${scope === 'root' || scope === plugin ? '' : `, scope ${scope}`}`,
  ])
  return [
    ...(route === undefined ? [] : [route]),
    ...Object.entries(params).map(([name, value]) => `  ${name} = ${JSON.stringify(value)}`),
    ...columns(rows, widthOf(process.stdout) - 2).map((line) => `  ${line}`),
  ]
}

function whyNot(
  server: Kernel,
  { steps }: Explanation,
  method: string,
  path: string,
  allow: readonly string[],
): string {
  if (parseTarget(path) === undefined) return `${method} ${path} responds with 400: the path is not valid in a URL`
  const miss = allow.length > 0 ? `405: the path has ${allow.join(', ')}` : '404'
  const fallback = steps.find(({ slot }) => slot === 'fallback')
  if (fallback !== undefined)
    return `${method} ${path} has no route: the plugin ${fallback.plugin} may respond; otherwise the response is a ${miss}`
  if (allow.length > 0) return `${method} ${path} responds with ${miss}`
  const [near] = nearestRoutes(server.listing, method, path)
  return `${method} ${path} responds with 404: no route has this path${near === undefined ? '' : `; did you mean ${near}?`}`
}
