import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const modules = join(import.meta.dirname, 'node_modules')

/** A version of TypeScript, and how its compiler is started. */
export interface Compiler {
  readonly name: '5.9' | '7'
  /** Its folder in `node_modules`. */
  readonly package: string
  readonly command: readonly string[]
}

export const compilers: readonly Compiler[] = [
  {
    name: '5.9',
    package: 'typescript-5.9',
    command: [process.execPath, '--max-old-space-size=8192', join(modules, 'typescript-5.9/lib/tsc.js')],
  },
  {
    name: '7',
    package: 'typescript',
    // Several checkers share no work, so each would check the common parts again.
    command: [process.execPath, join(modules, 'typescript/bin/tsc'), '--singleThreaded'],
  },
]

export interface Compilation {
  readonly instantiations: number
  readonly types: number
  /** Seconds of the type check alone. */
  readonly check: number
  /** Memory in MB. */
  readonly memory: number
  /** The errors by file. */
  readonly errors: ReadonlyMap<string, readonly string[]>
}

export function compile(compiler: Compiler, folder: string): Compilation {
  const [program, ...rest] = compiler.command
  const args = [...rest, '-p', '.', '--extendedDiagnostics', '--pretty', 'false']
  const { stdout, stderr } = spawnSync(program!, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 })
  const figure = (name: string) => {
    const found = new RegExp(`^${name}:\\s+([\\d.]+)(K|s)?`, 'm').exec(stdout)
    if (!found) throw new Error(`TypeScript ${compiler.name} did not say "${name}":\n${stdout}${stderr}`)
    return Number(found[1])
  }
  const errors = new Map<string, string[]>()
  for (const [, file = '', message = ''] of stdout.matchAll(/^([\w.-]+)\(\d+,\d+\): error (.*)$/gm)) {
    errors.set(file, [...(errors.get(file) ?? []), message])
  }
  for (const [message] of stdout.matchAll(/^error .*$/gm)) errors.set('', [...(errors.get('') ?? []), message])
  return {
    instantiations: figure('Instantiations'),
    types: figure('Types'),
    check: figure('Check time'),
    memory: figure('Memory used') / 1024,
    errors,
  }
}
