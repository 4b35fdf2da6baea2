import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ignoring } from '../scaffold/ignore.ts'

/** The nearest folder upwards with a `.gitignore`, not beyond the repository. */
export function ignoringFolder(folder: string): string | undefined {
  if (existsSync(join(folder, '.gitignore'))) return folder
  const up = dirname(folder)
  return up === folder || existsSync(join(folder, '.git')) ? undefined : ignoringFolder(up)
}

/** What the `.gitignore` of a folder has to be for git to leave a path in it out; `undefined` when it does already. */
export function ignoreFileFor(folder: string, path: string): string | undefined {
  // Git knows best. Where it is not installed, or where there is no repository yet, the usual spellings are looked for.
  const { status } = spawnSync('git', ['check-ignore', '--quiet', '--no-index', path], { cwd: folder, stdio: 'ignore' })
  if (status === 0) return undefined
  const before = readFileSync(join(folder, '.gitignore'), 'utf8')
  const text = ignoring(before, [path])
  return text === before ? undefined : text
}
