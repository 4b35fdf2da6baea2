import { statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { kindOf } from '../../plugins/shared/files/regular-file.ts'
import { option, type SettingsOf } from '../../plugins/shared/options/index.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { programName } from '../package.ts'
import { text } from '../run/own-command.ts'
import { readManifest, typedPath } from './project.ts'

const settings = option.shape({ start: option.name(), server: option.name(), export: option.name() })

/**
 * Where the application is, if it is not in the usual places: the member of its `package.json` with the name of this program. `start`
 * is the module that calls `listen()`, `server` the one that exports the server, and `export` the name of that export.
 *
 * @throws CommandFailure with the mistakes in it.
 */
export function projectSettings(folder: string = process.cwd()): SettingsOf<typeof settings> {
  const given = readManifest(join(folder, 'package.json'))[programName]
  const wrong = (why: string) => new CommandFailure(`package.json: ${why}`)
  return orFail(() => settings.parse(given ?? {}, programName), wrong)
}

/** Modules with these names, in the order in which they are looked for. */
export const modulesOf = (...names: readonly string[]) =>
  names.flatMap((name) => ['.ts', '.mts', '.js', '.mjs'].map((extension) => name + extension))

/** The flag for that file. */
export const startFlag = text('file', 'The module that calls server.listen() (default src/index.ts, index.ts, …)')

/** The kind of an existing path: a file, or what it is instead. */
const found = (path: string) => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined || stat.isFile() ? stat && 'a file' : kindOf(stat)
}

/**
 * The file that starts the application in a folder, relative to the folder: the one that calls `listen()`.
 *
 * @throws CommandFailure with the searched files.
 */
export function findStartFile(folder: string, named?: string): string {
  const { start } = named === undefined ? projectSettings(folder) : {}
  const entry = named ?? start
  if (entry === undefined) {
    const first = modulesOf('src/index', 'index').find((file) => found(resolve(folder, file)) === 'a file')
    if (first !== undefined) return first
    throw new CommandFailure(
      `no start file found in ${folder}: looked for src/index.ts, index.ts (also .mts, .js, .mjs). Pass the module that calls server.listen(): --entry <file>`,
    )
  }
  return relative(folder, existingEntry(entry, resolve(folder, named === undefined ? entry : typedPath(entry))))
}

/** The path of an entry. @throws CommandFailure if it is not a file. */
export function existingEntry(entry: string, file: string): string {
  const kind = found(file)
  if (kind === 'a file') return file
  if (kind === undefined) throw new CommandFailure(`the entry ${entry} does not exist`)
  if (kind === 'a folder') throw new CommandFailure(`the entry ${entry} is a folder: pass the file in it`)
  throw new CommandFailure(`the entry ${entry} is ${kind}, not a file`)
}

/** The folder of an application's sources, relative to the application's: the first folder in the path of the start file, or `''`. */
export function sourcesOf(startFile: string): string {
  const parts = startFile.split(sep)
  if (parts[0] === '..') return dirname(startFile)
  return parts.length > 1 ? parts[0]! : ''
}
