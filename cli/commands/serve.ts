import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { paintFor } from '../../plugins/shared/terminal/paint.ts'
import { CommandFailure, wrongUsage } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { namedRoot, rootsOf } from '../project/sources.ts'
import { findStartFile, startFlag } from '../project/start-file.ts'
import { endWithScript } from '../run/orphan.ts'
import { listOf, number, onOff, ownCommand, text, wholeNumber } from '../run/own-command.ts'
import { reportTo } from '../serve/report.ts'
import { chooseLaunch, nameOf, runtimeOf } from '../serve/runtime.ts'
import { Supervisor } from '../serve/supervisor.ts'
import { watchFiles } from '../serve/watch.ts'

export const serve = ownCommand({
  details: `The new version boots while the previous one still serves, and replaces it after boot. If the new version fails, the last
working version keeps serving. The command uses the runtime of the project: Bun with a bun.lock, Deno with a deno.json, otherwise
Node.js.`,
  flags: {
    entry: startFlag,
    port: number('number', 'Sets the environment variable PORT of the application', { short: 'p' }),
    host: text('address', 'Sets the environment variable HOST of the application'),
    runtime: text('name', 'Uses node, bun or deno instead of the detected runtime'),
    watch: text('paths', 'Watches these files and folders too, separated by commas'),
    poll: onOff('Polls for changes, if the file system does not report them (containers, network drives)'),
    inspect: onOff('Opens the inspector of Node.js for a debugger'),
    inspector: onOff('Leaves out the page that shows what the application does', { default: true }),
    json: onOff('Keeps the log lines as JSON, for programs'),
    quiet: onOff('Prints failures only', { short: 'q' }),
  },
  async run({ flags, note }) {
    const folder = process.cwd()
    const { host, inspect, inspector, poll } = flags
    const port = flags.port === undefined ? undefined : wholeNumber('port', flags.port, 0, 65_535)
    const startFile = findStartFile(folder, flags.entry)
    const launch = chooseLaunch(folder, startFile, runtimeOf(flags.runtime))
    if (inspect && launch.runtime !== 'node')
      throw wrongUsage(`--inspect is for Node.js, and this project runs on ${nameOf(launch.runtime)}`)
    const roots = [...rootsOf(folder, startFile), ...named(flags.watch)]
    const report = reportTo(note, paintFor(isatty(2)), startFile, folder, flags.quiet)
    report.starting(nameOf(launch.runtime))
    endWithScript()
    const supervisor = new Supervisor({
      launch,
      folder,
      port,
      report,
      inspect,
      inspector,
      log: flags.json ? 'json' : 'text',
      env: {
        NODE_ENV: 'development',
        ...process.env,
        ...(port !== undefined && { PORT: String(port) }),
        ...(host !== undefined && { HOST: host }),
      },
      watch: (changed) => watchFiles(roots, { poll, changed, exhausted: report.exhausted }),
    })
    return supervisor.run()
  },
})

function named(paths: string | undefined) {
  const all = listOf(paths).map(typedPath)
  const missing = all.find((path) => !existsSync(path))
  if (missing !== undefined) throw new CommandFailure(`--watch: ${missing} does not exist`)
  return all.map((path) => namedRoot(resolve(path)))
}
