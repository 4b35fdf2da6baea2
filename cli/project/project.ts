import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import {
  callingManager,
  type PackageManager,
  packageManagers,
} from '../../plugins/shared/environment/optional-package.ts'
import { isObject } from '../../plugins/shared/values/json.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { packageName, programName } from '../package.ts'
import { textOf } from '../text-file.ts'

export type Runtime = 'node' | 'bun' | 'deno'

/** The project that a folder is in. */
export interface Project {
  /** The nearest folder upwards with a `package.json` or `deno.json`. */
  readonly root: string
  readonly packageManager: PackageManager
  /** The runtime of its code: Bun and Deno are recognised by their package managers, everything else is Node.js. */
  readonly runtime: Runtime
  /** Names of the packages in its `package.json`, of every kind. */
  readonly dependencies: ReadonlySet<string>
}

const manifests = ['package.json', 'deno.json', 'deno.jsonc']

/** Lock files in order of precedence: a project with two of them has usually moved to the later tool. */
const lockFiles: readonly (readonly [file: string, manager: PackageManager])[] = [
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['deno.lock', 'deno'],
]

/** The nearest folder upwards with a `package.json` or `deno.json`. */
export function projectRoot(folder: string): string | undefined {
  return above(folder).find((one) => manifests.some((file) => existsSync(join(one, file))))
}

/**
 * The project around a folder.
 *
 * @throws CommandFailure if there is no project, or if its `package.json` is not a JSON object.
 */
export function findProject(folder: string = process.cwd()): Project {
  const root = projectRoot(folder)
  if (root === undefined) {
    throw new CommandFailure(
      `${folder} is not in a project: there is no package.json here or above; "${programName} init" creates one`,
    )
  }
  const manifest = readManifest(join(root, 'package.json'))
  const packageManager = namedIn(manifest) ?? lockedIn(root) ?? callingManager() ?? 'npm'
  return {
    root,
    packageManager,
    runtime: runtimeOf(packageManager),
    dependencies: new Set(namesIn(manifest, ...dependencyKinds)),
  }
}

/** The members of a `package.json` with dependencies. */
export const dependencyKinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

/** The names of the dependencies of these kinds. */
export const namesIn = (manifest: Readonly<Record<string, unknown>>, ...kinds: readonly string[]): string[] =>
  kinds.flatMap((kind) => Object.keys((manifest[kind] as object | undefined) ?? {}))

export const runtimeOf = (manager: PackageManager): Runtime =>
  manager === 'bun' || manager === 'deno' ? manager : 'node'

/** The module from which a generated test imports `test`: the test runner of the project. */
export function testModule({ dependencies, runtime }: Pick<Project, 'dependencies' | 'runtime'>): string {
  if (dependencies.has('vitest')) return 'vitest'
  return runtime === 'bun' ? 'bun:test' : 'node:test'
}

/** The command that runs a script of the project. */
export function runCommand(manager: PackageManager, script: string): string {
  if (manager === 'deno') return `deno task ${script}`
  // Everyone knows "npm test" and "npm start"; "bun test" would be a different command from the script.
  if (manager !== 'bun' && ['test', 'start'].includes(script)) return `${manager} ${script}`
  return manager === 'yarn' || manager === 'pnpm' ? `${manager} ${script}` : `${manager} run ${script}`
}

/**
 * The command line of a project: the script in its `package.json`. If the package is not installed, `npx` would fetch any package with
 * that name from the registry.
 */
export const commandLineOf = (manager: PackageManager): string =>
  runCommand(manager, programName) + (manager === 'npm' ? ' --' : '')

/** Reads a `package.json`; empty if the file does not exist. */
export function readManifest(file: string): Record<string, unknown> {
  const text = textOf(file)
  if (text === undefined) return {}
  const read = () => {
    const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (isObject(manifest)) return manifest
    throw new Error('it is not an object')
  }
  return orFail(read, (why) => new CommandFailure(`${file} cannot be read: ${why}`))
}

/** The tarball or folder from which a project has this package, if it has it from a file. */
export function installedFrom(root: string): string | undefined {
  const { dependencies } = readManifest(join(root, 'package.json')) as { dependencies?: Record<string, unknown> }
  const path = /^file:(.+)$/.exec(String(dependencies?.[packageName]))?.[1]
  return path === undefined ? undefined : resolve(root, path)
}

/** The package manager named in `"packageManager": "pnpm@9.1.0"`, as for corepack. */
function namedIn(manifest: Record<string, unknown>): PackageManager | undefined {
  const { packageManager } = manifest
  const name = typeof packageManager === 'string' ? packageManager.split('@')[0] : undefined
  return packageManagers.find((one) => one === name)
}

/** The nearest folder of a repository, upwards, of which something is known, and that. */
function nearest<Known>(folder: string, knownOf: (folder: string) => Known | undefined) {
  const all = above(folder)
  const top = all.findIndex((one) => existsSync(join(one, '.git')))
  const inside = top === -1 ? all : all.slice(0, top + 1)
  return inside.map((one) => [one, knownOf(one)] as const).find(([, known]) => known !== undefined)
}

const lockIn = (folder: string) => lockFiles.find(([file]) => existsSync(join(folder, file)))?.[1]

/** The package manager of the lock file, which is here or upwards: in a workspace it is at the top. */
const lockedIn = (root: string) =>
  nearest(root, (folder) => {
    const [node, ...deno] = manifests.map((file) => existsSync(join(folder, file)))
    // A deno.json without a package.json is not a project of Node.js.
    return lockIn(folder) ?? (deno.includes(true) && !node ? 'deno' : undefined)
  })?.[1]

/** The nearest folder upwards with a lock file; in a workspace, that of all its packages. */
export const lockFolder = (folder: string): string | undefined => nearest(folder, lockIn)?.[0]

/** Whether the folder is in a repository, or will be once it exists. The entry is a file in a work tree and in a submodule. */
export const inRepository = (folder: string): boolean => above(folder).some((one) => existsSync(join(one, '.git')))

/** A folder and all folders around it, the nearest first. */
export function above(folder: string): string[] {
  const up = dirname(folder)
  return up === folder ? [folder] : [folder, ...above(up)]
}

/** The folder in which the command was typed, if it works in another one. */
let typedIn: string | undefined

/**
 * Makes the process work in the folder of the project from here on, as scripts of a `package.json` do: an application finds
 * its files from there. Returns that folder if it is a different one; without a project, nothing changes.
 */
export function enterProject(): string | undefined {
  const current = process.cwd()
  const root = projectRoot(current)
  // npm enters the folder itself. In another script, paths are written for that folder, from wherever it is called.
  const typed = process.env.npm_lifecycle_event === programName ? process.env.INIT_CWD : undefined
  const here = typed !== undefined && root === current && projectRoot(typed) === root ? typed : current
  typedIn = undefined
  if (root === undefined || root === here) return undefined
  process.chdir(root)
  typedIn = here
  // The variable that npm also sets.
  process.env.INIT_CWD = here
  return root
}

/** A typed path, resolved for the folder in which the command works. */
export function typedPath(path: string): string {
  return typedIn === undefined ? path : relative(process.cwd(), resolve(typedIn, path)) || '.'
}

/** A path for the next command: relative to the folder in which this one was typed. */
export const fromHere = (path: string): string => relative(typedIn ?? process.cwd(), resolve(path)) || '.'

/** Whether a path is that of a folder, or is in the folder. Links are not followed: pass real paths where that matters. */
export function isInside(folder: string, path: string): boolean {
  const below = relative(folder, path)
  // On Windows, it is absolute if the paths are on different drives.
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}
