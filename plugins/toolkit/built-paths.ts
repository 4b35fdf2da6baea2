import { existsSync } from 'node:fs'
import { isAbsolute, join, posix } from 'node:path'

/** What a build says of itself before its first module runs (`framework build` writes it). */
interface Build {
  /** The folder of the sources, as it is named in patterns: `src`, or `''` for the folder of the process. */
  readonly sources: string
  /** Where what was in it is now, absolute. */
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
 * A file or folder that an application names relative to the folder of the process. In a build, what it has of the sources is
 * meant: `src/emails` is `dist/emails`.
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

/** The same for a glob: folder and rest, whose endings are those of the built modules: `*.ts` is `*.js`. */
export function builtPattern(pattern: string): { folder: string; pattern: string } | undefined {
  const found = build()
  const below = found && belowSources(pattern, found.sources)
  if (found === undefined || below === undefined) return undefined
  return {
    folder: found.folder,
    pattern: below.replace(/\.(\{[\w,]+\}|[cm]?tsx?)$/, (ending) => ending.replace(/\b([cm]?)tsx?\b/g, '$1js')),
  }
}
