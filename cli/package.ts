import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Versions of packages of packages, to any depth. */
export interface Overrides {
  readonly [name: string]: string | Overrides
}

/** What the command line wants to know of its own `package.json`, which is published as it is. */
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

/** The folder of the package that this file is part of: how deep it lies there is the bundler's choice. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

const own = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as Manifest

export function manifest(): Manifest {
  return own
}

/** What an application imports: the `package.json` alone says how the package is called. */
export const packageName = own.name

/** What is typed for a command. */
export const programName = Object.keys(own.bin)[0]!

export function version(): string {
  return manifest().version
}
