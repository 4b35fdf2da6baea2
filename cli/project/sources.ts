import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { lockFolder } from './project.ts'
import { sourcesOf } from './start-file.ts'

/** The files of an application. Its own output (uploads, databases, logs) does not count. */
const source = /\.([cm]?[jt]sx?|json|ya?ml|toml|graphql|gql|html?|hbs|handlebars|mustache|ejs|edge|mjml|sql)$/i
/** Files that are not part of the running application. */
const beside = /\.(test|spec|bench)\.\w+$|\.d\.[cm]?ts$/i
/** The files at the top that change how the application runs, including lock files, because `npm install` writes them at the end. */
const settings =
  /^(package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|bunfig\.toml|deno\.(jsonc?|lock)|[jt]sconfig.*\.json|\.env.*)$/i
/** Environment files that no development server reads: the one for tests, and the example. */
const unread = () => (process.env.NODE_ENV === 'test' ? /^\.env\.example$/i : /^\.env\.(example|test(\.local)?)$/i)
/** Folders for browsers: their scripts are not modules of the server. */
export const servedFolders: ReadonlySet<string> = new Set(['public', 'static'])
/** Folders of packages and of tests, wherever they are. */
export const leftOutFolders: ReadonlySet<string> = new Set(['node_modules', '__tests__', '__mocks__'])
const besideSources = ['test', 'tests', 'dist', 'build', 'out', 'coverage', 'uploads', 'logs', 'tmp']
/** Folders at the top of a project, where its sources may be, that are not part of the running application. */
export const otherFolders: ReadonlySet<string> = new Set([...leftOutFolders, ...servedFolders, ...besideSources])

export const isSource = (name: string): boolean => source.test(name) && !beside.test(name) && !isTemporary(name)
/** Whether a file is written by people and not by the application. */
export const isCode = (name: string): boolean => /\.[cm]?[jt]sx?$/i.test(name)
/** Whether a file changes more than the modules of an application. */
export const isSetting = (name: string): boolean => settings.test(name) && !unread().test(name) && !isTemporary(name)
/** Whether a file is temporary: editors write such a file before they rename it. */
const isTemporary = (name: string): boolean => /^\.#|~$|^#.*#$|\.(sw[a-p]x?|tmp)$|^4913$/.test(name)

/** A folder that is watched. */
export interface Root {
  readonly folder: string
  /** Whether a file in it counts, by its name. */
  counts(name: string): boolean
  /** Whether a folder in it is also watched. */
  enters(name: string): boolean
}

const isOpen = (name: string) => !name.startsWith('.') && name !== 'node_modules'

/**
 * The parts of an application: the folder of its sources and the settings at the top, or all of them in one if its files are
 * at the top; and the settings of its workspace, whose lock file determines its packages.
 */
export function rootsOf(folder: string, startFile: string): readonly Root[] {
  const sources = sourcesOf(startFile)
  const own = sources === '' ? [flatRoot(folder)] : [sourceRoot(resolve(folder, sources)), settingsRoot(folder)]
  const workspace = lockFolder(folder)
  return workspace === undefined || workspace === folder ? own : [...own, settingsRoot(workspace)]
}

/** The folder with the sources and everything below it except files for browsers, which are read for each request. */
const sourceRoot = (folder: string): Root => ({
  folder,
  counts: isSource,
  enters: (name) => isOpen(name) && !servedFolders.has(name),
})

/** The top of the project, without its subfolders. */
const settingsRoot = (folder: string): Root => ({ folder, counts: isSetting, enters: () => false })

/** A project without a folder for its sources, which are at the top, among other files. */
const flatRoot = (folder: string): Root => ({
  folder,
  counts: (name) => isSource(name) || isSetting(name),
  enters: (name) => isOpen(name) && !otherFolders.has(name),
})

/** A folder or file that was named explicitly: everything in it counts. */
export function namedRoot(path: string): Root {
  if (statSync(path).isDirectory()) return { folder: path, counts: (name) => !isTemporary(name), enters: isOpen }
  const folder = join(path, '..')
  const file = path.slice(folder.length).replace(/^[\\/]/, '')
  return { folder, counts: (name) => name === file, enters: () => false }
}

/** The files of one folder that count, each with a fingerprint of its content, and the folders in it to enter. */
export interface Content {
  readonly files: ReadonlyMap<string, string>
  readonly folders: ReadonlySet<string>
}

/** Reads a folder; a missing one is empty. */
export function readContent(root: Root, folder: string): Content {
  const files = new Map<string, string>()
  const folders = new Set<string>()
  for (const name of safely(() => readdirSync(folder), [])) {
    const path = join(folder, name)
    // A linked folder may lead upwards, endlessly.
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isDirectory()) {
      if (root.enters(name)) folders.add(path)
    } else if (found !== undefined && root.counts(name)) {
      const print = printOf(path)
      if (print !== undefined) files.set(path, print)
    }
  }
  return { files, folders }
}

/** A size above that of any source: a larger file is compared by its date. */
const large = 2_000_000

/**
 * The fingerprint of a file, from its content and not its date: `git checkout` there and back, a formatter that changes nothing and an
 * application that writes the same JSON at every start are not changes, but two writes within one tick of the file system's clock are.
 */
function printOf(path: string): string | undefined {
  return safely(() => {
    const found = statSync(path)
    // A pipe would be read until something writes to it.
    if (!found.isFile()) return undefined
    const { size, mtimeMs } = found
    if (size > large) return `${size} ${mtimeMs}`
    return createHash('sha1').update(readRegularFileSync(path)).digest('base64')
  })
}
