import { printTable } from '../columns.ts'
import { wrongUsage } from '../failure.ts'
import { readRecording } from '../rehearse/recording.ts'
import { type Outcome, rehearse as run } from '../rehearse/rehearse.ts'
import { readRequests } from '../rehearse/requests.ts'
import { number, onOff, ownCommand, text, wholeNumber } from '../run/own-command.ts'
import { chooseRuntime, productionArguments, runtimeOf } from '../serve/runtime.ts'
import { productionFile } from '../start/production-file.ts'

export const rehearse = ownCommand({
  details: `Starts two instances, like "start", and a load balancer. Sends requests, replaces one instance with SIGTERM and the other
with SIGKILL, and reports what clients and queues have lost. It fails if something was lost that a correct application keeps.
It sends GET to the routes without parameters and opens websockets, or it sends the requests of --requests or --traffic.
  framework rehearse
  framework rehearse --duration 10 --rate 200 --json
  framework rehearse --requests requests.txt
  framework rehearse --traffic recorded.har`,
  flags: {
    entry: text('file', 'The module that calls server.listen() (default: that of "start")'),
    runtime: text('name', 'Uses node, bun or deno instead of the detected runtime'),
    requests: text('file', 'Sends the requests in this file, one per line, such as GET /books'),
    traffic: text('file', 'Sends the requests in this recording of a browser, an HTTP Archive (.har)'),
    duration: number('seconds', 'How long traffic runs before, between and after the replacements', { default: 3 }),
    rate: number('number', 'How many requests it sends per second', { default: 50 }),
    health: text('path', 'The path of the readiness probe', { default: '/health/ready' }),
    'close-timeout': number('seconds', 'How long your platform waits for an instance to close', { default: 30 }),
    json: onOff('Prints JSON'),
  },
  async run({ flags, print, note }) {
    const folder = process.cwd()
    const duration = wholeNumber('duration', flags.duration, 1, 3600) * 1000
    const rate = wholeNumber('rate', flags.rate, 1, 1000)
    const closeTimeout = wholeNumber('close-timeout', flags['close-timeout'], 1, 3600) * 1000
    const { health, requests, traffic } = flags
    if (!health.startsWith('/')) throw wrongUsage(`--health takes a path such as /health/ready, not "${health}"`)
    const { runtime, program } = chooseRuntime(folder, runtimeOf(flags.runtime))
    const file = productionFile(folder, runtime, flags.entry)
    const args = productionArguments(runtime, file, 'start', 'rehearse')
    process.env.NODE_ENV ??= 'production'
    if (requests !== undefined && traffic !== undefined) throw wrongUsage('--requests and --traffic exclude each other')
    // An empty name, as of a variable that is not set, is not "none".
    const sent = requests === undefined ? undefined : readRequests(requests)
    const listed = traffic === undefined ? sent : readRecording(traffic, note)
    const application = { program, args, file, health, closeTimeout }
    const outcome = await run({ application, listed, rate, duration, note })
    if (flags.json) print(JSON.stringify(outcome, undefined, 2))
    else show(outcome, print)
    const lost = outcome.findings.filter(({ level }) => level === 'lost').length
    note(lost === 0 ? 'nothing avoidable was lost' : `findings that the application can avoid: ${lost}`)
    return lost === 0 ? 0 : 1
  },
})

/** How many hooks are listed: the slowest ones. */
const shownHooks = 5

function show({ responses, closing, findings }: Outcome, print: (line: string) => void): void {
  const statuses = Object.entries(responses).map(([status, count]) => `${count} with ${status}`)
  const slowest = closing.hooks.toSorted(({ ms: a = Infinity }, { ms: b = Infinity }) => b - a).slice(0, shownHooks)
  const rows = [
    ['responses', statuses.join(', ')],
    ['closing', `${closing.ms} ms, ${closing.ended}`],
    ...slowest.map(({ name, ms }) => ['', `${ms === undefined ? 'not settled' : `${ms} ms`}: ${name}`]),
    ...findings.map(({ level, count, what }) => [level, `${count} × ${what}`]),
  ]
  printTable(rows, print)
}
