import { availableParallelism } from 'node:os'
import { pathToFileURL } from 'node:url'
import { CommandFailure, wrongUsage } from '../failure.ts'
import type { Runtime } from '../project/project.ts'
import { endWithScript } from '../run/orphan.ts'
import { number, ownCommand, text, wholeNumber } from '../run/own-command.ts'
import { chooseRuntime, nameOf, ownRuntime, preloadOf, productionArguments, runtimeOf } from '../serve/runtime.ts'
import { productionFile } from '../start/production-file.ts'
import { Supervisor } from '../start/supervisor.ts'
import { clusterBy, type Spawn, sharedPorts, spawnBy } from '../start/worker.ts'

export const start = ownCommand({
  details: `Runs the output of "build" on Node.js, and the sources on Bun and Deno. The workers share one port, and a worker that ends is
replaced. SIGTERM and SIGINT close all workers; SIGHUP replaces them one by one, without losing a request.`,
  flags: {
    workers: text('n', 'The number of processes, or "max" for one per processor (default 1)', { short: 'w' }),
    entry: text(
      'file',
      'The module that calls server.listen() (default dist/index.js on Node.js, otherwise src/index.ts, index.ts, …)',
    ),
    runtime: text('name', 'Uses node, bun or deno instead of the detected runtime'),
    'stuck-after': number('seconds', 'How long a worker may be unresponsive before it is replaced; 0 disables this', {
      default: 30,
    }),
  },
  async run({ flags, note }) {
    const folder = process.cwd()
    const of = workersOf(flags.workers)
    const stuckAfter = wholeNumber('stuck-after', flags['stuck-after'], 0, 86_400)
    const { runtime, program } = chooseRuntime(folder, runtimeOf(flags.runtime))
    const file = productionFile(folder, runtime, flags.entry)
    const spawn = await spawnOn(runtime, program, folder, file)
    note(`${file} on ${nameOf(runtime)}, ${of === 1 ? '1 worker' : `${of} workers`}`)
    endWithScript()
    process.env.NODE_ENV ??= 'production'
    return new Supervisor({ of, stuckAfter, note, spawn, share: sharedPorts() }).run()
  },
})

function workersOf(given: string | undefined): number {
  if (given === undefined) return 1
  if (given === 'max') return availableParallelism()
  const count = Number(given)
  if (/^\d+$/.test(given) && count >= 1 && count <= 1024) return count
  throw wrongUsage(`--workers takes a whole number from 1 to 1024, or max, not "${given}"`)
}

async function spawnOn(runtime: Runtime, program: string, folder: string, file: string): Promise<Spawn> {
  if (runtime === 'node') {
    if (ownRuntime() !== 'node')
      throw new CommandFailure(
        `--runtime node: run this command on Node.js, since ${nameOf(ownRuntime())} cannot share its port`,
      )
    return clusterBy(folder, file, pathToFileURL(preloadOf('start')).href)
  }
  if (process.platform !== 'linux')
    throw new CommandFailure(
      `${nameOf(runtime)} can share a port between processes only on Linux (SO_REUSEPORT); start ${file} itself here, or run on Node.js`,
    )
  return spawnBy(program, productionArguments(runtime, file, 'start'), folder)
}
