import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { runtimeBinary } from '../runtimes/run.mjs'

/** One runtime with one adapter. */
export interface Target {
  readonly name: string
  readonly runtime: 'node' | 'node22' | 'node24' | 'node26' | 'bun' | 'deno'
  /** `node` forces `node:http` on Bun and Deno. */
  readonly adapter?: 'node'
}

export const targets: readonly Target[] = [
  { name: 'node', runtime: 'node' },
  { name: 'node22', runtime: 'node22' },
  { name: 'node24', runtime: 'node24' },
  { name: 'node26', runtime: 'node26' },
  { name: 'bun', runtime: 'bun' },
  { name: 'deno', runtime: 'deno' },
  { name: 'bun with node:http', runtime: 'bun', adapter: 'node' },
  { name: 'deno with node:http', runtime: 'deno', adapter: 'node' },
]

/** Whether the adapter beneath is `node:http`, on whichever runtime. */
export function usesNodeHttp(target: Target): boolean {
  return target.adapter === 'node' || target.runtime.startsWith('node')
}

/** A fixture application in a process of its own. */
export interface RunningApp {
  readonly port: number
  readonly pid: number
  /** What it wrote to standard error. */
  stderr(): string
  signal(signal: NodeJS.Signals): void
  /** Resolves with the exit code, `null` after a signal that killed it. */
  readonly exited: Promise<number | null>
  stop(): Promise<void>
}

const root = join(import.meta.dirname, '../..')

/** Starts the application of a file on the built package; run `npm run build` before. */
export async function startApp(
  target: Target,
  options: Record<string, unknown> = {},
  { file = 'app.mjs', descriptors }: { file?: string; descriptors?: number } = {},
): Promise<RunningApp> {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  // A shell, which limits its program.
  const bound = descriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
  const [command, ...args] = [...bound, ...commandOf(target)]
  const settings = JSON.stringify({ drainWindow: 0, ...(target.adapter && { adapter: target.adapter }), ...options })
  const child = spawn(command!, [...args, join(import.meta.dirname, file), settings], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' },
  })
  let stderr = ''
  child.stderr.on('data', (data) => {
    stderr += data
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const { port } = await firstLine(child, () => stderr)
  return {
    port,
    pid: child.pid!,
    stderr: () => stderr,
    signal: (signal) => child.kill(signal),
    exited,
    stop: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** How a script is run on a target. */
interface ScriptOptions {
  /** Default the root of the repository, where the built package is found by its name. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Milliseconds after which it is ended. */
  readonly timeout?: number
}

/**
 * Runs a script of this folder, or an absolute one, to its end and returns its output, as JSON; run `npm run build`
 * before.
 */
export async function resultOf(
  target: Target,
  script: string,
  own: readonly string[] = [],
  { cwd = root, env = {}, timeout = 0 }: ScriptOptions = {},
  attempt = 1,
): Promise<unknown> {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  const [command, ...all] = commandOf(target)
  // Bun takes the option for a file of the repository; another folder has none to override.
  const args = cwd === root ? all : all.filter((arg) => !arg.startsWith('--tsconfig-override'))
  const options = { cwd, timeout, env: { ...process.env, NODE_OPTIONS: '', ...env } }
  try {
    const { stdout } = await promisify(execFile)(
      command!,
      [...args, resolve(import.meta.dirname, script), ...own],
      options,
    )
    return JSON.parse(stdout)
  } catch (error) {
    // Once in some thousand starts V8 crashes within Deno, in a thread that compiles; it has nothing to do with the script.
    if (target.runtime !== 'deno' || (error as { signal?: string }).signal !== 'SIGSEGV' || attempt > 2) throw error
    return resultOf(target, script, own, { cwd, env, timeout }, attempt + 1)
  }
}

/** The command that runs a module on a runtime. */
export function commandOf(target: Target): string[] {
  if (target.runtime === 'node') return [process.execPath]
  const binary = runtimeBinary(target.runtime)
  if (binary === undefined) throw new Error(`${target.runtime} is not installed: npm ci --prefix test/runtimes`)
  // Bun would follow the `paths` of tsconfig.json to the sources instead of the built package.
  if (target.runtime === 'bun') return [binary, '--tsconfig-override=tsconfig.build.json']
  if (target.runtime === 'deno') return [binary, 'run', '-A', '--node-modules-dir=manual']
  return [binary]
}

function firstLine(child: ChildProcess, stderr: () => string): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', (data) => {
      text += data
      if (text.includes('\n')) resolve(JSON.parse(text.slice(0, text.indexOf('\n'))))
    })
    child.once('exit', (code) =>
      reject(new Error(`the application ended with ${code} before it listened\n${stderr()}`)),
    )
  })
}
