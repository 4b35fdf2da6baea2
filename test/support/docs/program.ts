import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A running program that has printed its address. */
export interface Program {
  readonly url: string
  readonly child: ChildProcess
  /** Its whole output so far. */
  output(): string
  /** Sends a signal and returns how the program ended. */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Starts a program from a folder, the project's by default, on a port of its own choice, and waits until it writes an address. */
export async function startProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  runtime: string = process.execPath,
  folder: string = root,
): Promise<Program> {
  const child = spawn(runtime, args, {
    cwd: folder,
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /https?:\/\/[\w.]+:\d+(?!\d|$)/.exec(output)
      if (found !== null) resolve(found[0])
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ended with ${code} and printed no address:\n${output}`)))
  })
  const ended = once(child, 'exit')
  return {
    url,
    child,
    output: () => output,
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      const [code, by] = (await ended) as [number | null, NodeJS.Signals | null]
      return { code, signal: by }
    },
  }
}

/** Runs a program to its end. */
export async function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  runtime: string = process.execPath,
) {
  const child = spawn(runtime, args, {
    cwd: root,
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ...env },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
