import { existsSync } from 'node:fs'
import { basename, relative, resolve } from 'node:path'
import { CommandFailure, quoted } from '../failure.ts'
import { version } from '../package.ts'
import { type PackageManager, packageManagers, runtimeOf } from '../project/project.ts'
import { existingName } from './existing.ts'
import { packageNameFrom, whyNoPackageName } from './package-name.ts'

/** The optional parts, by the names of their flags. */
export const parts = ['mqtt', 'cron', 'graphql'] as const
export type Part = (typeof parts)[number]

/** What is decided about a project before its files are made. */
export interface InitSettings {
  /** Absolute. */
  readonly folder: string
  /** Of the package. */
  readonly name: string
  readonly packageManager: PackageManager
  readonly parts: ReadonlySet<Part>
  /** What its `package.json` asks for as the framework. */
  readonly framework: string
}

/** @throws CommandFailure for a name that npm would refuse, with one that it takes. */
export function checkedName(name: string): string {
  const why = whyNoPackageName(name)
  if (why === undefined) return name
  const other = packageNameFrom(name)
  const hint = other === undefined ? '--name <name> gives another' : `--name ${other} would do`
  throw new CommandFailure(`${quoted(name)} cannot be the name of a package: ${why}; ${hint}`, {
    usage: true,
  })
}

/**
 * The name of a project that was given none: that of its `package.json`, else that of its folder. A folder that is there
 * was not named for this, so where npm would refuse its name one is made of it.
 *
 * @throws CommandFailure for a folder that is to be made, and whose name npm would refuse.
 */
export function ownName(folder: string): string {
  const existing = existingName(folder)
  if (existing !== undefined) return existing
  const name = basename(folder)
  if (!existsSync(folder)) return checkedName(name)
  return whyNoPackageName(name) === undefined ? name : (packageNameFrom(name) ?? 'my-app')
}

export function checkedPackageManager(name: string): PackageManager {
  const found = packageManagers.find((one) => one === name)
  if (found !== undefined) return found
  throw new CommandFailure(`--pm takes ${packageManagers.join(', ')}; "${name}" is none of them`, { usage: true })
}

/** @throws CommandFailure for parts that do not run where the project does. */
export function checkParts(chosen: ReadonlySet<Part>, manager: PackageManager): void {
  if (chosen.has('cron') && runtimeOf(manager) !== 'node') {
    throw new CommandFailure(
      `scheduled jobs run on Node.js only: leave --cron out, or take another package manager than ${manager} (--pm npm)`,
      { usage: true },
    )
  }
}

/**
 * What `package.json` asks for, from what was typed behind `--framework`: a version, a range or a tag; or the path of a
 * tarball or a folder, which is made relative to the project; or an address.
 */
export function frameworkFrom(typed: string | undefined, folder: string, manager: PackageManager): string {
  if (typed === undefined) return `^${version()}`
  if (/^(file|https?|git\+\w+|npm|workspace|link|portal|catalog):/.test(typed)) return typed
  if (/[/\\]|\.t(ar\.)?gz$/.test(typed)) {
    if (manager === 'deno') {
      throw new CommandFailure(`--framework: Deno installs no ${typed}, only what a registry has: name a version`, {
        usage: true,
      })
    }
    if (!existsSync(typed)) throw new CommandFailure(`--framework: ${typed} does not exist`, { usage: true })
    return `file:${relative(folder, resolve(typed)).replaceAll('\\', '/')}`
  }
  if (/^[\w.^~<>=|*+ -]+$/.test(typed)) return typed
  throw new CommandFailure(`--framework takes a version, a tarball or a folder; ${JSON.stringify(typed)} is none`, {
    usage: true,
  })
}
