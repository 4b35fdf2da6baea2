import { existsSync } from 'node:fs'
import { isAbsolute, join, posix } from 'node:path'

/** The data that a build sets before its first module runs (written by `framework build`). */
interface Build {
  /** The folder of the sources, as it appears in patterns: `src`, or `''` for the working folder of the process. */
  readonly sources: string
  /** The absolute folder that now has its contents. */
  readonly folder: string
}

/** The folder of the build, and the part of a relative path below the sources; `undefined` for any other path, and outside a build. */
function inBuild(path: string): { folder: string; below: string } | undefined {
  const build = (globalThis as { [key: symbol]: unknown })[Symbol.for('framework.build')] as Build | undefined
  if (build === undefined || isAbsolute(path)) return undefined
  const { sources, folder } = build
  const plain = posix.normalize(path)
  if (plain.startsWith('../../')) return undefined
  if (sources === '') return { folder, below: plain }
  return `${plain}/`.startsWith(`${sources}/`) ? { folder, below: plain.slice(sources.length + 1) } : undefined
}

/**
 * The path of a file or folder that an application names relative to the working folder of the process. In a build, a path in the
 * sources stands for its built copy: `src/emails` becomes `dist/emails`.
 *
 * @example
 * const folder = builtPath('src/emails')
 */
export function builtPath(path: string): string {
  const found = inBuild(path)
  if (found === undefined) return path
  const built = join(found.folder, found.below)
  return existsSync(built) ? built : path
}

/** The same for a glob: its folder and the rest, with the endings of the built modules: `*.ts` becomes `*.js`. */
export function builtPattern(pattern: string): { folder: string; pattern: string } | undefined {
  const found = inBuild(pattern)
  if (found === undefined) return undefined
  return {
    folder: found.folder,
    pattern: found.below.replace(/\.(\{[\w,]+\}|[cm]?tsx?)$/, (ending) => ending.replace(/\b([cm]?)tsx?\b/g, '$1js')),
  }
}
