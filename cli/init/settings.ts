import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { basename, join, relative, resolve, sep } from 'node:path'
import type { PackageManager } from '../../plugins/shared/environment/optional-package.ts'
import { CommandFailure, quoted, wrongUsage } from '../failure.ts'
import { manifest, packageFolder, packageName, programName } from '../package.ts'
import { installedFrom } from '../project/project.ts'
import { existingName } from './existing.ts'
import { packageNameFrom, whyNoPackageName } from './package-name.ts'
import type { Extra, Part } from './parts.ts'

/** The decisions about a project that are made before its files. */
export interface InitSettings {
  /** The absolute path of the project. */
  readonly folder: string
  /** The name of the package. */
  readonly name: string
  readonly packageManager: PackageManager
  readonly parts: ReadonlySet<Part>
  readonly extras: ReadonlySet<Extra>
  readonly framework: Framework
}

/** The source of a project's framework. */
export interface Framework {
  /** The dependency in its `package.json`. */
  readonly spec: string
  /** The folder, relative to the project, that Deno uses for the package. */
  readonly link?: string
}

/** Checks a name. @throws CommandFailure for a name that npm would refuse, with one that it would accept. */
export function checkedName(name: string): string {
  const why = whyNoPackageName(name)
  if (why === undefined) return name
  const other = packageNameFrom(name)
  const hint = other === undefined ? '--name <name> gives another' : `--name ${other} would do`
  throw wrongUsage(`${quoted(name)} cannot be the name of a package: ${why}; ${hint}`)
}

/**
 * The name of a project if none is given: that in its `package.json`, otherwise that of its folder. An existing folder
 * was not named for this purpose, so if npm would refuse its name, a valid one is made from it.
 *
 * @throws CommandFailure for a folder that must be created, and whose name npm would refuse.
 */
export function ownName(folder: string): string {
  const existing = existingName(folder)
  if (existing !== undefined) return existing
  const name = basename(folder)
  if (!existsSync(folder)) return checkedName(name)
  return whyNoPackageName(name) === undefined ? name : (packageNameFrom(name) ?? 'my-app')
}

/**
 * The value of `--framework`: a version, a range or a tag; or the path of a tarball or a folder, which is made
 * relative to the project; or an address. Without it, the source from which this copy of the package is installed.
 */
export function frameworkFrom(typed: string | undefined, folder: string, manager: PackageManager): Framework {
  if (typed === undefined) return ownSource(folder, manager)
  if (/^(file|https?|git\+\w+|npm|workspace|link|portal|catalog):/.test(typed)) return { spec: typed }
  if (/[/\\]|\.t(ar\.)?gz$/.test(typed)) {
    if (manager === 'deno' && /gz$/.test(typed)) {
      throw wrongUsage(`--framework: Deno does not support a tarball such as ${typed}: pass the folder of the package`)
    }
    if (!existsSync(typed)) throw wrongUsage(`--framework: ${typed} does not exist`)
    return fromPath(resolve(typed), folder, manager)
  }
  if (/^[\w.^~<>=|*+ -]+$/.test(typed)) return { spec: typed }
  throw wrongUsage(`--framework takes a version, a tarball or a folder, not ${JSON.stringify(typed)}`)
}

/** The copy that `vendor` puts into the project. */
export function vendored(manager: PackageManager): Framework {
  const path = vendoredPath(manager)
  return manager === 'deno' ? { spec: `^${manifest.version}`, link: `./${path}` } : { spec: `file:${path}` }
}

function fromPath(path: string, folder: string, manager: PackageManager): Framework {
  const between = relative(folder, path).replaceAll('\\', '/')
  return manager === 'deno' ? { spec: `^${manifest.version}`, link: between } : { spec: `file:${between}` }
}

/**
 * The source of this copy. A name alone would be looked up in the registry, where another package may have it: it is only written if this
 * copy comes from there. Otherwise a project gets the framework from this copy's file, and a clone of the repository from its folder.
 */
function ownSource(folder: string, manager: PackageManager): Framework {
  const [root, ...inside] = packageFolder().split(`${sep}node_modules${sep}`)
  if (inside.length === 0) return fromPath(packageFolder(), folder, manager)
  const path = installedFrom(root!)
  if (path === undefined) return { spec: `^${manifest.version}` }
  // Deno does not accept tarballs, and uses the package itself.
  return fromPath(manager === 'deno' ? packageFolder() : path, folder, manager)
}

/** The name of a copy in the project, without the folder of an npm scope. */
const stem = packageName.replace(/^@/, '').replace('/', '-')

/** The path of the copy of the framework in a project, relative to it: a tarball, or for Deno, which accepts none, a folder. */
export const vendoredPath = (manager: PackageManager): string =>
  manager === 'deno' ? `vendor/${programName}` : `vendor/${stem}-${manifest.version}.tgz`

/**
 * Puts a copy of this package into a project, where it stays wherever the project is moved, cloned or built.
 *
 * @throws CommandFailure with npm's error if it cannot pack.
 */
export function vendor(folder: string, manager: PackageManager): void {
  const from = packageFolder()
  if (!existsSync(join(from, 'dist'))) throw new CommandFailure(`${from} has no dist: npm run build creates it`)
  if (manager === 'deno') {
    const files = ['package.json', 'README.md', 'LICENSE', ...manifest.files]
    const isLeftOut = (path: string) => files.includes(`!${relative(from, path).replaceAll('\\', '/')}`)
    // Source maps are half of the size, and only the package's authors need the tests.
    const filter = (path: string) => !isLeftOut(path) && !/\.(map|test\.ts)$/.test(path)
    for (const path of files.filter((one) => !one.startsWith('!')))
      cpSync(join(from, path), join(folder, vendoredPath(manager), path), { recursive: true, filter })
    return
  }
  const to = join(folder, 'vendor')
  mkdirSync(to, { recursive: true })
  // On Windows it is a .cmd file, which needs a shell: quotes keep the path as one word.
  const shell = process.platform === 'win32'
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', shell ? `"${to}"` : to]
  const { status, error, stderr } = spawnSync('npm', args, { cwd: from, shell, encoding: 'utf8' })
  if (error !== undefined)
    throw new CommandFailure(`npm, which packs the framework, cannot be started: ${error.message}`)
  if (status !== 0) throw new CommandFailure(`npm cannot pack the framework: ${stderr.trim()}`)
}
