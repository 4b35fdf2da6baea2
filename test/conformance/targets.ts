import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
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
const app = join(import.meta.dirname, 'app.mjs')

/** Starts the application on the built package; run `npm run build` before. */
export async function startApp(target: Target, options: Record<string, unknown> = {}): Promise<RunningApp> {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
  const [command, ...args] = commandOf(target)
  const settings = JSON.stringify({ drainWindow: 0, ...(target.adapter && { adapter: target.adapter }), ...options })
  const child = spawn(command!, [...args, app, settings], {
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
