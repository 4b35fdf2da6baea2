import { stat } from 'node:fs/promises'
import { isAbsolute, parse, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { outsideServers } from '../values/running-server.ts'
import { builtPattern } from './built-paths.ts'
import { kindOf } from './regular-file.ts'

/** Files that match patterns, and the patterns that match none. */
export interface FoundFiles {
  /** Absolute paths, sorted. */
  readonly files: readonly string[]
  /** The patterns that match no file, as they were given. */
  readonly unmatched: readonly string[]
}

// On Windows people write backslashes, which are escapes in a glob.
const toGlob = (pattern: string) => (process.platform === 'win32' ? pattern.replaceAll('\\', '/') : pattern)

// Declarations are not modules, and a server must not run a test that is next to its subject.
const isLeftOut = (file: string) => /\.(d\.[cm]?ts|(test|spec)\.[cm]?[jt]sx?)$/.test(file)

/**
 * Finds the files of globs below a folder; in a build, their built copies. Declarations (`.d.ts`), tests
 * (`.test.ts`, `.spec.ts`) and packages are left out.
 *
 * @example
 * const { files, unmatched } = await findFiles(['src/reports/*.ts'], process.cwd())
 * if (unmatched.length > 0) console.log(`no files for ${unmatched}, ${files.length} for the others`)
 */
export async function findFiles(patterns: readonly string[], folder: string): Promise<FoundFiles> {
  if (patterns.length === 0) return { files: [], unmatched: [] }
  const { escapePath, glob } = await import('tinyglobby')
  // All patterns are resolved from the root: with a working folder, the exclusions would not apply to files outside it.
  const absolute = (pattern: string) => {
    if (isAbsolute(pattern)) return toGlob(pattern)
    const place = builtPattern(toGlob(pattern)) ?? { folder, pattern: toGlob(pattern) }
    return posix.join(escapePath(toGlob(place.folder)), place.pattern)
  }
  const left = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => (pattern.startsWith('!**') ? pattern.slice(1) : absolute(pattern.slice(1))))
  const files = new Set<string>()
  const unmatched: string[] = []
  for (const pattern of patterns.filter((one) => !one.startsWith('!'))) {
    const full = absolute(pattern)
    const packages = full.includes('node_modules') ? [] : ['**/node_modules/**']
    const options = {
      cwd: parse(folder).root,
      absolute: true,
      expandDirectories: false,
      ignore: [...left, ...packages],
    }
    const found = (await glob(full, options)).filter((file) => !isLeftOut(file))
    if (found.length === 0) unmatched.push(pattern)
    for (const file of found) files.add(file)
  }
  return { files: [...files].sort(), unmatched }
}

/** How the files of one kind are loaded. */
export interface FileLoading {
  /** Called with each pattern that matches nothing. */
  unmatched(pattern: string, folder: string): void
  /** The error for a file that fails; its `cause` will be the thrown value. */
  failure(file: string, why: string): Error
  /** Receives the exports of a file; an error that it throws is a failure of that file. */
  take(exported: ReadonlySet<unknown>, file: string): void | Promise<void>
}

/**
 * Imports the files that globs match, absolute or relative to the working folder of the process, in order of their names.
 *
 * @throws (as a rejection) the result of `failure`, for the first file that fails.
 * @example
 * await importFiles(['src/reports/*.ts'], {
 *   unmatched: (pattern) => console.log(`no file matches ${pattern}`),
 *   failure: (file, why) => new Error(`${file} cannot be loaded: ${why}`),
 *   take: (exported) => console.log(exported.size),
 * })
 */
export async function importFiles(patterns: readonly string[], loading: FileLoading): Promise<void> {
  const folder = process.cwd()
  const { files, unmatched } = await findFiles(patterns, folder)
  for (const pattern of unmatched) loading.unmatched(pattern, folder)
  for (const file of files) {
    try {
      const found = await stat(file)
      // A link may refer to a pipe, for which an import would wait.
      if (!found.isFile()) throw new Error(`it is ${kindOf(found)}`)
      const module = await outsideServers(() => import(pathToFileURL(file).href))
      await loading.take(new Set<unknown>(Object.values(module)), file)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw Object.assign(loading.failure(file, why + hintFor(file, error)), { cause: error })
    }
  }
}

/** The hint that Node.js does not run decorators, and older versions do not run TypeScript at all. */
function hintFor(file: string, error: unknown): string {
  if ('Bun' in globalThis || 'Deno' in globalThis || !/\.[cm]?tsx?$/.test(file)) return ''
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  const isSyntax = error instanceof SyntaxError || code === 'ERR_UNKNOWN_FILE_EXTENSION' || code.includes('TYPESCRIPT')
  return isSyntax
    ? `. Node.js cannot run TypeScript with decorators by itself: start it with a loader (node --import tsx server.ts; in Vitest test.server.deps.inline: ['framework'], and "experimentalDecorators": true in the tsconfig.json), or name the compiled .js files in the patterns`
    : ''
}
