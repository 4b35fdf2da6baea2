import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Ended, root } from '../cli.ts'
import { asLine } from './lines.ts'

let child: ChildProcess | undefined
/** How many commands it has run. */
let runs = 0
/** Each run keeps some 7 MB of modules. */
const mostRuns = 60
const notInherited = { NODE_OPTIONS: '', FORCE_COLOR: undefined }
let lines: AsyncIterator<string>
let before: Promise<unknown> = Promise.resolve()

/**
 * Runs the built command line, that of the project if it has one, in a process that does so for all calls of these test files, one after
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
  if (child === undefined || runs === mostRuns) {
    // It ends with its input, also when this process ends.
    child?.stdin?.end()
    child = start()
    runs = 0
  }
  runs++
  const own = join(folder, 'node_modules/framework')
  const file = join(existsSync(own) ? own : root, 'dist/cli/index.js')
  child.stdin!.write(asLine({ folder, argv, file, env: { ...process.env, ...notInherited, ...env } }))
  const { value, done } = await lines.next()
  if (done !== true) return JSON.parse(value) as Ended
  child = undefined
  throw new Error(`the process of the commands has ended: ${argv.join(' ')}`)
}

function start(): ChildProcess {
  if (!existsSync(join(root, 'dist/cli/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  const file = fileURLToPath(new URL('fresh.mjs', import.meta.url))
  const started = spawn(process.execPath, ['--max-semi-space-size=32', file], {
    env: { ...process.env, ...notInherited },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
  return started
}
