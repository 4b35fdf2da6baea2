import { isAbsolute, parse, posix } from 'node:path'

/** Files that patterns match, and the patterns that match none. */
export interface FoundFiles {
  /** Absolute, sorted. */
  readonly files: readonly string[]
  readonly unmatched: readonly string[]
}

// On Windows people write backslashes, which are escapes in a glob.
const toGlob = (pattern: string) => (process.platform === 'win32' ? pattern.replaceAll('\\', '/') : pattern)

/** Finds the files of globs below a folder. Declarations (`.d.ts`) are no modules, and packages are nobody's controllers. */
export async function findFiles(patterns: readonly string[], folder: string): Promise<FoundFiles> {
  if (patterns.length === 0) return { files: [], unmatched: [] }
  const { escapePath, glob } = await import('tinyglobby')
  // All from the root: with a folder in between, what is left out would not hold for files outside of it.
  const absolute = (pattern: string) =>
    isAbsolute(pattern) ? toGlob(pattern) : posix.join(escapePath(toGlob(folder)), toGlob(pattern))
  const left: string[] = []
  const wanted: string[] = []
  for (const pattern of patterns) {
    if (!pattern.startsWith('!')) wanted.push(pattern)
    else left.push(pattern.startsWith('!**') ? pattern.slice(1) : absolute(pattern.slice(1)))
  }
  const files = new Set<string>()
  const unmatched: string[] = []
  for (const pattern of wanted) {
    const full = absolute(pattern)
    const packages = full.includes('node_modules') ? [] : ['**/node_modules/**']
    const options = {
      cwd: parse(folder).root,
      absolute: true,
      expandDirectories: false,
      ignore: [...left, ...packages],
    }
    const found = (await glob(full, options)).filter((file) => !/\.d\.[cm]?ts$/.test(file))
    if (found.length === 0) unmatched.push(pattern)
    for (const file of found) files.add(file)
  }
  return { files: [...files].sort(), unmatched }
}
