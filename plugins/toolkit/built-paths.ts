import { existsSync } from 'node:fs'
import { isAbsolute, join, posix } from 'node:path'

/** The data that a build sets before its first module runs (`framework build` writes it). */
interface Build {
  /** The folder of the sources, as patterns name it: `src`, or `''` for the folder of the process. */
  readonly sources: string
  /** The folder with its contents now, absolute. */
  readonly folder: string
}

const build = (): Build | undefined =>
  (globalThis as { [key: symbol]: unknown })[Symbol.for('framework.build')] as Build

/** The part of a relative path that lies below the sources; `undefined` for another, and outside of a build. */
function belowSources(path: string, sources: string): string | undefined {
  if (isAbsolute(path)) return undefined
  const plain = posix.normalize(path)
  if (plain.startsWith('../')) return undefined
  if (sources === '') return plain
  return plain === sources ? '' : plain.startsWith(`${sources}/`) ? plain.slice(sources.length + 1) : undefined
}

/**
 * A file or folder that an application names relative to the folder of the process. In a build, a path of the sources means
 * its built copy: `src/emails` is `dist/emails`.
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

/** The same for a glob: folder and rest, with the endings of the built modules: `*.ts` is `*.js`. */
export function builtPattern(pattern: string): { folder: string; pattern: string } | undefined {
  const found = build()
  const below = found && belowSources(pattern, found.sources)
  if (found === undefined || below === undefined) return undefined
  return {
    folder: found.folder,
    pattern: below.replace(/\.(\{[\w,]+\}|[cm]?tsx?)$/, (ending) => ending.replace(/\b([cm]?)tsx?\b/g, '$1js')),
  }
}
