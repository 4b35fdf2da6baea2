import { existsSync } from 'node:fs'
import { isAbsolute, join, posix } from 'node:path'

/** The data that a build sets before its first module runs (written by `framework build`). */
interface Build {
  /** The folder of the sources, as it appears in patterns: `src`, or `''` for the working folder of the process. */
  readonly sources: string
  /** The absolute folder that now has its contents. */
  readonly folder: string
}

const build = (): Build | undefined =>
  (globalThis as { [key: symbol]: unknown })[Symbol.for('framework.build')] as Build

/** The part of a relative path that is below the sources; `undefined` for any other path, and outside a build. */
function belowSources(path: string, sources: string): string | undefined {
  if (isAbsolute(path)) return undefined
  const plain = posix.normalize(path)
  if (plain.startsWith('../../')) return undefined
  if (sources === '') return plain
  return plain === sources ? '' : plain.startsWith(`${sources}/`) ? plain.slice(sources.length + 1) : undefined
}

/**
 * The path of a file or folder that an application names relative to the working folder of the process. In a build, a path in the
 * sources stands for its built copy: `src/emails` becomes `dist/emails`.
 *
 * @example
 * const folder = builtPath('src/emails')
 */
export function builtPath(path: string): string {
  const found = build()
  const below = found && belowSources(path, found.sources)
  if (found === undefined || below === undefined) return path
  const built = join(found.folder, below)
  return existsSync(built) ? built : path
}

/** The same for a glob: its folder and the rest, with the endings of the built modules: `*.ts` becomes `*.js`. */
export function builtPattern(pattern: string): { folder: string; pattern: string } | undefined {
  const found = build()
  const below = found && belowSources(pattern, found.sources)
  if (found === undefined || below === undefined) return undefined
  return {
    folder: found.folder,
    pattern: below.replace(/\.(\{[\w,]+\}|[cm]?tsx?)$/, (ending) => ending.replace(/\b([cm]?)tsx?\b/g, '$1js')),
  }
}
