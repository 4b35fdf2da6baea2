import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { runtimeBinary } from '../runtimes/run.mjs'
import { isLong } from '../support/long.ts'
import { type Host, hostOf, moduleOf } from './hosts/hosts.ts'

/** One runtime with one adapter. */
export interface Target {
  readonly name: string
  readonly runtime: 'node' | 'node22' | 'node24' | 'node26' | 'bun' | 'deno'
  /** `node` forces `node:http` on Bun and Deno. */
  readonly adapter?: 'node'
}

const all: readonly Target[] = [
  { name: 'node', runtime: 'node' },
  { name: 'node22', runtime: 'node22' },
  { name: 'node24', runtime: 'node24' },
  { name: 'node26', runtime: 'node26' },
  { name: 'bun', runtime: 'bun' },
  { name: 'deno', runtime: 'deno' },
  { name: 'bun with node:http', runtime: 'bun', adapter: 'node' },
  { name: 'deno with node:http', runtime: 'deno', adapter: 'node' },
]

/** The oldest and the newest Node.js, Bun and Deno; the long run has the versions between and `node:http` on Bun and Deno as well. */
export const targets: readonly Target[] = isLong
  ? all
  : all.filter(({ name }) => ['node', 'node26', 'bun', 'deno'].includes(name))

/** One for each kind of runtime, for what plugins do: on the newest Node.js, their own tests show it. */
export const runtimeKinds: readonly Target[] = isLong ? all : targets.filter(({ name }) => name !== 'node26')

/**
 * One of each runtime, for what is measured from outside, such as memory after a crowd of clients: the suite has Node.js, and the long run Bun
 * and Deno as well, which have the same code of ours.
 */
export const measured: readonly Target[] = all.filter(({ name }) =>
  (isLong ? ['node', 'bun', 'deno'] : ['node']).includes(name),
)

/** Whether the adapter beneath is `node:http`, on whichever runtime. */
export function usesNodeHttp(target: Target): boolean {
  return target.adapter === 'node' || target.runtime.startsWith('node')
}

/** The application of a fixture. */
export interface SharedApp {
  readonly port: number
  /** Its process, which may be that of others as well. */
  readonly pid: number
  stop(): Promise<void>
}

/** The application of a fixture in a process of its own. */
export interface RunningApp extends SharedApp {
  /** What it wrote to standard error. */
  stderr(): string
  signal(signal: NodeJS.Signals): void
  /** Resolves with the exit code, `null` after a signal that killed it. */
  readonly exited: Promise<number | null>
}

const root = join(import.meta.dirname, '../..')
const fixtureOf = (file: string) => moduleOf(resolve(import.meta.dirname, file))

/**
 * Starts the application of a fixture in the process that all fixtures of a runtime share. For what is seen from outside: where a test ends
 * its process, measures it or reads what it prints, `startApp` is for it.
 */
export async function shareApp(
  target: Target,
  options: Record<string, unknown> = {},
  { file = 'app.mjs' }: { file?: string } = {},
): Promise<SharedApp> {
  const host = await hostFor(target)
  const settings = { closeTimeout: 1_000, ...optionsOf(target), gracefulShutdown: false, ...options }
  const { id, result } = host.call({ start: fixtureOf(file), args: [settings] })
  const { port } = (await result) as { port: number }
  return {
    port,
    pid: host.pid,
    stop: async () => {
      await host.call({ stop: id, args: [] }).result
    },
  }
}

/** Starts the application of a fixture in a process of its own, on the built package; run `npm run build` before. */
export async function startApp(
  target: Target,
  options: Record<string, unknown> = {},
  { file = 'app.mjs', descriptors }: { file?: string; descriptors?: number } = {},
): Promise<RunningApp> {
  needsBuild()
  // A shell, which limits its program.
  const bound = descriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
  const [command, ...args] = [...bound, ...commandOf(target)]
  const settings = JSON.stringify({ ...optionsOf(target), ...options })
  const child = spawn(command!, [...args, join(import.meta.dirname, 'hosts/alone.mjs'), fixtureOf(file), settings], {
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

const optionsOf = ({ adapter }: Target) => ({ drainWindow: 0, ...(adapter && { adapter }) })

function needsBuild(): void {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
}

/** Which server listens is a matter of options, so a runtime has one process for all. */
function hostFor(target: Target): Promise<Host> {
  needsBuild()
  return hostOf(target.runtime, commandOf(target))
}

/**
 * Calls the function `run` of a fixture in the process that all fixtures of a runtime share, and returns its result. For fixtures that leave
 * their process as it was.
 */
export async function resultOf(
  target: Target,
  fixture: string,
  args: readonly string[] = [],
  { timeout }: { timeout?: number } = {},
): Promise<unknown> {
  const host = await hostFor(target)
  const { result } = host.call({ run: fixtureOf(fixture), args })
  if (timeout === undefined) return result
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`${fixture} has not ended within ${timeout} ms`)), timeout).unref()
  })
  return Promise.race([result, late])
}

/** How a script is run on a target. */
interface ScriptOptions {
  /** Default the root of the repository, where the built package is found by its name. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Runs a script in a process of its own to its end and returns what it prints, as JSON; run `npm run build` before. */
export async function printedBy(
  target: Target,
  script: string,
  own: readonly string[] = [],
  { cwd = root, env = {} }: ScriptOptions = {},
  attempt = 1,
): Promise<unknown> {
  needsBuild()
  const [command, ...all] = commandOf(target)
  // Bun takes the option for a file of the repository; another folder has none to override.
  const args = cwd === root ? all : all.filter((arg) => !arg.startsWith('--tsconfig-override'))
  const options = { cwd, env: { ...process.env, NODE_OPTIONS: '', ...env } }
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
    return printedBy(target, script, own, { cwd, env }, attempt + 1)
  }
}

/** The command that runs a module on a runtime. */
export function commandOf(target: Target): string[] {
  if (target.runtime === 'node') return [process.env.FRAMEWORK_OLDEST_NODE ?? process.execPath]
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
