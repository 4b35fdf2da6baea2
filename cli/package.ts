import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The versions of dependencies of packages, to any depth. */
export interface Overrides {
  readonly [name: string]: string | Overrides
}

/** The part of its own `package.json` that the command line needs. */
export interface Manifest {
  readonly name: string
  readonly bin: Readonly<Record<string, string>>
  readonly version: string
  readonly files: readonly string[]
  readonly engines: { readonly node: string }
  readonly overrides: Overrides
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The nearest folder around this file that contains a path; the bundler decides how deep this file is in it. */
export function folderWith(path: string, folder = dirname(fileURLToPath(import.meta.url))): string {
  if (existsSync(join(folder, path))) return folder
  if (folder === dirname(folder)) throw new Error(`The package is not complete: ${path} is missing`)
  return folderWith(path, dirname(folder))
}

/** The folder of this package. */
export const packageFolder = (): string => folderWith('package.json')

export const manifest = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as Manifest

/** The name that an application imports: only the `package.json` has it. */
export const packageName = manifest.name

/** The name of the program. */
export const programName = Object.keys(manifest.bin)[0]!
