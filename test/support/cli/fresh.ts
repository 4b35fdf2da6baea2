import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { type Ended, root } from '../cli.ts'
import { asLine } from './lines.ts'

let child: ChildProcess | undefined
/** The test file that has started it: files share this module. */
let owner: string | undefined
let lines: AsyncIterator<string>
let before: Promise<unknown> = Promise.resolve()

/**
 * Runs the built command line, that of the project if it has one, in a process that does so for all calls of a test file, one after
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
  const { testPath } = expect.getState()
  // It ends with its input, also when this process ends.
  if (testPath !== owner) child?.stdin?.end()
  if (child === undefined || testPath !== owner) child = start()
  owner = testPath
  const own = join(folder, 'node_modules/framework')
  const file = join(existsSync(own) ? own : root, 'dist/cli/index.js')
  const variables = Object.entries(env).map(([name, value]) => [name, value ?? null])
  child.stdin!.write(asLine({ folder, argv, file, env: Object.fromEntries(variables) }))
  const { value, done } = await lines.next()
  if (done === true) throw new Error(`the process of the commands has ended: ${argv.join(' ')}`)
  return JSON.parse(value) as Ended
}

function start(): ChildProcess {
  if (!existsSync(join(root, 'dist/cli/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  const file = fileURLToPath(new URL('fresh.mjs', import.meta.url))
  const started = spawn(process.execPath, ['--max-semi-space-size=64', file], {
    env: { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: undefined },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
  return started
}
