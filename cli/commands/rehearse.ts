import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { printTable } from '../columns.ts'
import { wrongUsage } from '../failure.ts'
import { packageFolder } from '../package.ts'
import { type Outcome, rehearse as run } from '../rehearse/rehearse.ts'
import { readRequests } from '../rehearse/requests.ts'
import { number, onOff, ownCommand, text } from '../run/own-command.ts'
import { chooseRuntime, runtimeOf } from '../serve/runtime.ts'
import { productionFile } from '../start/production-file.ts'

export const rehearse = ownCommand({
  details: `Starts twice what "start" would start, with a load balancer, sends requests, replaces one instance with SIGTERM and the other
one with SIGKILL, and reports what clients and queues have lost. It fails if something was lost that a correct application keeps.
It sends GET to routes without parameters, or with examples of them in OpenAPI, and opens websockets.
  framework rehearse
  framework rehearse --duration 10 --rate 200 --json
  framework rehearse --requests recorded.har --unsafe`,
  flags: {
    entry: text('file', 'The module that calls server.listen() (default as for start)'),
    runtime: text('name', 'node, bun or deno, instead of the detected one'),
    requests: text(
      'file',
      'Sends these, in their order: a HAR file, or a list with a line such as GET /books for each',
    ),
    unsafe: onOff('Also sends the recorded requests that may change data: POST, PUT, PATCH, DELETE'),
    duration: number('seconds', 'Traffic before, between and after the two replacements', { default: 3 }),
    rate: number('number', 'Requests in a second', { default: 50 }),
    health: text('path', 'The readiness probe of the application', { default: '/health/ready' }),
    'close-timeout': number('seconds', 'How long an instance may close, as the platform allows it', { default: 30 }),
    port: number('number', 'The port of the load balancer, for traffic of your own (default any)'),
    seed: number('number', 'Repeats the order of the requests of an earlier rehearsal'),
    json: onOff('Prints JSON'),
  },
  async run({ flags, print, note }) {
    const folder = process.cwd()
    const duration = inside('duration', flags.duration, 1, 3600) * 1000
    const rate = inside('rate', flags.rate, 1, 1000)
    const closeTimeout = inside('close-timeout', flags['close-timeout'], 1, 3600) * 1000
    const port = inside('port', flags.port ?? 0, 0, 65_535)
    const seed = inside('seed', flags.seed ?? randomInt(2 ** 31), 0, 2 ** 32 - 1)
    if (!flags.health.startsWith('/'))
      throw wrongUsage(`--health takes a path such as /health/ready, not "${flags.health}"`)
    const { runtime, program } = chooseRuntime(folder, runtimeOf(flags.runtime))
    const file = productionFile(folder, runtime, flags.entry)
    const flag = runtime === 'node' ? '--import' : '--preload'
    const preloads = ['start', 'rehearse'].map((name) => join(packageFolder(), `dist/cli/${name}/preload.js`))
    const first = runtime === 'deno' ? ['run', '-A', '--unstable-net'] : []
    const args = [...first, ...preloads.flatMap((path) => [flag, pathToFileURL(path).href]), file]
    process.env.NODE_ENV ??= 'production'
    const recorded = flags.requests === undefined ? undefined : readRequests(flags.requests)
    const application = { program, args, file, health: flags.health }
    const numbers = { rate, seed, port, duration, closeTimeout }
    const outcome = await run({ application, recorded, isUnsafe: flags.unsafe, ...numbers, note })
    if (flags.json) print(JSON.stringify({ seed, ...outcome }, undefined, 2))
    else show(outcome, print)
    const lost = outcome.findings.filter(({ level }) => level === 'lost').length
    const verdict =
      lost === 0 ? 'nothing was lost that an application can keep' : `findings that the application can avoid: ${lost}`
    note(`${verdict}; --seed ${seed} repeats the order of the requests`)
    return lost === 0 ? 0 : 1
  },
})

function inside(flag: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw wrongUsage(`--${flag} takes a whole number from ${min} to ${max}, not ${value}`)
}

/** How many hooks are listed: the slowest ones. */
const shownHooks = 5

function show({ responses, refused, accepted, closing, findings }: Outcome, print: (line: string) => void): void {
  const statuses = Object.entries(responses).map(([status, count]) => `${count} with ${status}`)
  const hooks = closing.hooks.map(({ name, ms = Infinity }) => ({
    ms,
    text: `${ms === Infinity ? 'not settled: ' : `${ms} ms: `}${name}`,
  }))
  hooks.sort((one, other) => other.ms - one.ms)
  const rows = [
    ['responses', statuses.join(', ')],
    ['refused', `${refused} connections, which went to another instance`],
    ['messages', `${accepted} accepted`],
    ['closing', `${closing.ms} ms, ${closing.ended}`],
    ...hooks.slice(0, shownHooks).map(({ text }) => ['', text]),
    ...findings.map(({ level, count, what, remedy }) => [level, `${count} × ${what}. ${remedy}`]),
  ]
  printTable(rows, print)
}
