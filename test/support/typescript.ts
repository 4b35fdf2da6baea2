import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runIn } from './cli.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Compilation {
  ok: boolean
  /** Diagnostics by file, relative to the folder it ran in; `''` has those without a file. */
  errors: Map<string, string[]>
  output: string
}

/**
 * Runs the project's `tsc` and sorts its output by file. The native compiler has no API, so this reads its output,
 * `file(line,column): error TS1234: message` with continuation lines indented.
 */
export function runTsc(args: string[], cwd: string = root): Compilation {
  const env = { ...process.env, ...withoutCollections }
  const result = spawnSync(process.execPath, commandOf(args), { cwd, encoding: 'utf8', env })
  return read(result.status, `${result.stdout}${result.stderr}${result.error?.message ?? ''}`)
}

/** The same, concurrently with other tests. */
export async function startTsc(args: string[], cwd: string): Promise<Compilation> {
  const { code, stdout, stderr } = await runIn(cwd, [process.execPath, ...commandOf(args)], withoutCollections)
  return read(code, stdout + stderr)
}

/** The native compiler keeps nearly all that it allocates: looking for the rest takes a third of its processor time. */
const withoutCollections = { GOGC: 'off', GOMEMLIMIT: '2GiB' }

/** With one thread: each of the usual four checkers resolves what it shares with the others again, half as much processor time more. */
const own = [resolve(root, 'node_modules/typescript/bin/tsc'), '--singleThreaded']
const commandOf = (args: readonly string[]) => [...own, ...args, '--pretty', 'false']

function read(code: number | null, printed: string): Compilation {
  const output = printed.trim()
  return { ok: code === 0, errors: errorsByFile(output), output }
}

export function errorsByFile(output: string): Map<string, string[]> {
  const errors = new Map<string, string[]>()
  let current: string[] | undefined
  for (const line of output.split(/\r?\n/)) {
    if (/^\s/.test(line) && current) {
      current[current.length - 1] += `\n${line}`
      continue
    }
    const found = /^(?<file>.+?)\((?<place>\d+,\d+)\): (?<message>error TS\d+: .*)$/.exec(line)?.groups
    const file = found ? found.file!.replaceAll('\\', '/') : ''
    const message = found ? `${file}:${found.place!.replace(',', ':')} ${found.message}` : line
    if (!found && !/^error TS\d+/.test(line)) continue
    current = errors.get(file) ?? []
    current.push(message)
    errors.set(file, current)
  }
  return errors
}
