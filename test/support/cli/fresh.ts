import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Ended, root } from '../cli.ts'
import { asLine } from './lines.ts'

/** A process of the commands. */
interface Fresh {
  readonly child: ChildProcess
  readonly lines: AsyncIterator<string>
  runs: number
}

/** One for each build, by its folder: the hooks for TypeScript of the first run serve the others, and they leave out their own places. */
const processes = new Map<string, Fresh>()
/** Each run keeps some 7 MB of modules. */
const mostRuns = 60
const notInherited = { NODE_OPTIONS: '', FORCE_COLOR: undefined }
let before: Promise<unknown> = Promise.resolve()

/**
 * Runs the built command line, that of the project if it has one, in a process that does so for all calls of a worker's test files, one after
 * the other. Each imports everything anew, so it is like a run in a process of its own, and takes a quarter of its time. Not for an
 * application that ends the process, that continues after the command, or whose logger writes past the streams.
 *
 * @param env variables; those that are `undefined` are removed
 */
export function framework(folder: string, argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const ended = before.then(() => run(folder, argv, env))
  before = ended.catch(() => {})
  return ended
}

async function run(folder: string, argv: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const own = join(folder, 'node_modules/framework')
  const build = existsSync(own) ? own : root
  const file = join(build, 'dist/cli/index.js')
  const fresh = processFor(realpathSync(build))
  fresh.runs++
  fresh.child.stdin!.write(asLine({ folder, argv, file, env: { ...process.env, ...notInherited, ...env } }))
  const { value, done } = await fresh.lines.next()
  if (done !== true) return JSON.parse(value) as Ended
  processes.delete(realpathSync(build))
  throw new Error(`the process of the commands has ended: ${argv.join(' ')}`)
}

function processFor(build: string): Fresh {
  const running = processes.get(build)
  if (running !== undefined && running.runs < mostRuns) return running
  // It ends with its input, also when this process ends.
  running?.child.stdin?.end()
  const started = start()
  processes.set(build, started)
  return started
}

function start(): Fresh {
  if (!existsSync(join(root, 'dist/cli/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  const file = fileURLToPath(new URL('fresh.mjs', import.meta.url))
  const child = spawn(process.execPath, ['--max-semi-space-size=32', file], {
    env: { ...process.env, ...notInherited },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), runs: 0 }
}
