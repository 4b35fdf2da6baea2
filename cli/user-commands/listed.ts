import { createHash, type Hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { commandFolders, findEntry } from '../application/load.ts'
import type { CommandFailure } from '../failure.ts'
import { packageFolder } from '../package.ts'
import { namedRoot, type Root, readContent, rootsOf } from '../project/sources.ts'
import { replaceFile } from '../text-file.ts'

/** A command of an application in a list. */
export interface Listed {
  readonly name: string
  readonly description: string
  /** Where it comes from: `src/commands/greet.ts`, `the plugin tools`. */
  readonly from: string
}

export interface ListedCommands {
  readonly own: readonly Listed[]
  readonly plugins: readonly Listed[]
}

/** The cache, in a folder outside version control. */
const file = join('node_modules', '.cache', 'framework', 'commands.json')

/**
 * The commands of an application, cached as long as its files stay the same: importing an application only to
 * list them takes 0.7 s, and reading its files 0.02. If there is a problem, nothing is cached.
 */
export async function listedCommands(): Promise<ListedCommands & { readonly problems: readonly CommandFailure[] }> {
  const folders = commandFolders()
  const start = findEntry() ?? folders[0]
  // If there is nothing to import, there is nothing to cache.
  if (start === undefined) return { own: [], plugins: [], problems: [] }
  const state = stateOf([...rootsOf(process.cwd(), start), ...folders.map((folder) => namedRoot(resolve(folder)))])
  const kept = readKept(state)
  if (kept !== undefined) return { ...kept, problems: [] }
  const { applicationCommands } = await import('./find.ts')
  const { found, problems } = await applicationCommands()
  const listed = (ofPlugins: boolean): Listed[] =>
    found
      .filter(({ isOfPlugin }) => isOfPlugin === ofPlugins)
      .map(({ command: { name, description }, from }) => ({ name, description, from }))
  const lists = { own: listed(false), plugins: listed(true) }
  if (problems.length === 0) keep({ state, ...lists })
  return { ...lists, problems }
}

/** A fingerprint of all files and variables on which the commands of an application depend. */
function stateOf(roots: readonly Root[]): string {
  const hash = createHash('sha1')
  // In a checkout of this package, the build changes.
  const build = statSync(join(packageFolder(), 'dist', 'index.js'), { throwIfNoEntry: false })
  hash.update(JSON.stringify([process.cwd(), process.versions, packageFolder(), build?.mtimeMs]))
  for (const name of Object.keys(process.env).sort()) {
    if (!perCall.test(name)) hash.update(`\0${name}=${process.env[name]}`)
  }
  for (const root of roots) addFolder(hash, root, root.folder)
  return hash.digest('base64')
}

/** Variables that differ from one call to the next, or depend on whether npm runs the command, and have no effect. */
const perCall = /^(_|SHLVL|PWD|OLDPWD|INIT_CWD|COLUMNS|LINES|PATH|NODE|EDITOR|COLOR|npm_.*)$/

function addFolder(hash: Hash, root: Root, folder: string): void {
  const { files, folders } = readContent(root, folder)
  for (const [path, print] of files) hash.update(`\0${relative(root.folder, path)} ${print}`)
  for (const path of folders.keys()) addFolder(hash, root, path)
}

function readKept(state: string): ListedCommands | undefined {
  return safely(() => {
    const kept = JSON.parse(readRegularFileSync(file).toString('utf8')) as ListedCommands & { readonly state: string }
    return kept.state === state ? kept : undefined
  })
}

/** Writes the cache. If it cannot be written, the next call takes as long as this one. */
function keep(kept: ListedCommands & { readonly state: string }): void {
  if (statSync('node_modules', { throwIfNoEntry: false })?.isDirectory() !== true) return
  safely(() => replaceFile(file, JSON.stringify(kept)))
}
