import { spawnSync } from 'node:child_process'
import { runtimeBinary, runtimes } from '../../test/runtimes/run.mjs'

export type RuntimeKind = 'node' | 'bun' | 'deno'

/** The runtime on which the servers run. */
export interface Runtime {
  readonly kind: RuntimeKind
  readonly version: string
  readonly binary: string
  /** The name, and as much of the version as readers compare: `Node 24`, `Bun 1.4`. */
  readonly title: string
}

export const runtimeWords = ['node', ...runtimes]

/** Finds the Node.js of this process, a runtime that the tests have installed, or else one on the PATH or at a path. */
export function findRuntime(word: string): Runtime {
  const binary = word === 'node' ? process.execPath : (runtimeBinary(word) ?? word)
  const { stdout, error } = spawnSync(binary, ['--version'], { encoding: 'utf8' })
  const version = /(\d+)\.(\d+)\.\d+\S*/.exec(stdout ?? '')
  if (error !== undefined || version === null) {
    throw new Error(
      `--runtime ${word}: it cannot be started. It takes ${runtimeWords.join(', ')}, which npm ci --prefix test/runtimes installs, or the path of one.`,
    )
  }
  const [whole, major, minor] = version
  if (stdout.startsWith('deno')) return { kind: 'deno', version: whole, binary, title: `Deno ${major}.${minor}` }
  if (stdout.startsWith('v')) return { kind: 'node', version: whole, binary, title: `Node ${major}` }
  return { kind: 'bun', version: whole, binary, title: `Bun ${major}.${minor}` }
}

/** Returns the command that runs a server, with the option that lets it collect its garbage on demand. */
export function serverCommand({ kind, binary }: Runtime, args: readonly string[], collects: boolean): string[] {
  const collect = './servers/collect.mjs'
  switch (kind) {
    case 'node':
      return [binary, ...(collects ? ['--expose-gc', '--import', collect] : []), ...args]
    case 'bun':
      return [binary, ...(collects ? ['--expose-gc', '--preload', collect] : []), ...args]
    case 'deno': {
      const flags = collects ? ['--v8-flags=--expose-gc', '--preload', collect] : []
      return [binary, 'run', '--allow-all', '--no-lock', '--node-modules-dir=manual', ...flags, ...args]
    }
  }
}
