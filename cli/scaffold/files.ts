import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { CommandDefinition, CommandInput } from '../../plugins/toolkit/command-definition.ts'
import { readRegularFileSync } from '../../plugins/toolkit/read-file.ts'
import { CommandFailure } from '../failure.ts'
import { isInside } from '../project/inside.ts'

/** A file that a command wants to write. */
export interface ScaffoldFile {
  /** Relative to the root, with `/`. */
  readonly path: string
  readonly text: string
  /** Permissions, `0o600` for secrets, whatever the umask is. Default: those of the system, or of the file that is there. */
  readonly mode?: number
  /**
   * What becomes of a file that is there with other text: `refuse` writes nothing at all without `--force`, `keep` leaves it
   * without `--force`, `update` replaces it in any case, for a text that was made from what is there. Default `refuse`.
   */
  readonly existing?: 'refuse' | 'keep' | 'update'
}

/** What every command takes that writes files. */
export const scaffoldFlags = {
  force: { type: 'boolean', short: 'f', description: 'Overwrites existing files' },
  'dry-run': { type: 'boolean', description: 'Writes nothing; shows what it would write' },
  json: { type: 'boolean', description: 'Prints JSON' },
} as const satisfies CommandDefinition['flags']

type Action = 'created' | 'overwritten' | 'updated' | 'kept' | 'unchanged'
type Planned = ScaffoldFile & { readonly action: Action }

/**
 * Writes files into a folder, which need not be there yet, all of them or none, and prints what became of each.
 *
 * A file that is there with other text is not touched without `--force`, unless it says otherwise. One with the same text
 * stays as it is. `about` is what the JSON says besides.
 *
 * @throws CommandFailure naming the files that are there, or the one that cannot be written and why.
 */
export function writeFiles(
  root: string,
  files: readonly ScaffoldFile[],
  { flags, print }: Pick<CommandInput, 'flags' | 'print'>,
  about: Readonly<Record<string, unknown>> = {},
): void {
  const planned = files.map((file) => ({ ...file, action: actionOf(root, file, flags.force === true) }))
  const taken = planned.filter(({ action }) => action === 'overwritten').map(({ path }) => path)
  if (taken.length > 0 && flags.force !== true) {
    const are = taken.length === 1 ? 'already exists' : 'already exist'
    throw new CommandFailure(`${taken.join(', ')} ${are}: nothing was written; --force overwrites`)
  }
  const dry = flags['dry-run'] === true
  if (!dry) writeAll(root, planned)
  if (flags.json === true) {
    const told = planned.map(({ path, action }) => ({ path, action }))
    print(JSON.stringify({ ...about, dryRun: dry, files: told }, null, 2))
    return
  }
  for (const { path, action } of planned) print(`${dry && isWritten(action) ? `would be ${action}` : action}  ${path}`)
}

const isWritten = (action: Action) => action !== 'unchanged' && action !== 'kept'

function actionOf(root: string, { path, text, existing = 'refuse' }: ScaffoldFile, force: boolean): Action {
  const file = inside(root, path)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return 'created'
  if (!found.isFile()) throw new CommandFailure(`${path} exists and is not a file: nothing was written`)
  if (read(file) === text) return 'unchanged'
  if (existing === 'update') return 'updated'
  return existing === 'keep' && !force ? 'kept' : 'overwritten'
}

/** The file in the root, also when a folder on the way is a link that leads elsewhere. */
function inside(root: string, path: string): string {
  const file = resolve(root, path)
  const there = nearestOf(dirname(file))
  const top = nearestOf(resolve(root))
  if (!file.startsWith(resolve(root) + sep) || !isInside(realpathSync(top), realpathSync(there))) {
    throw new CommandFailure(`${path} is outside ${root}: nothing was written`)
  }
  if (!statSync(there).isDirectory()) {
    throw new CommandFailure(`${relative(process.cwd(), there)} is a file, not a folder: nothing was written`)
  }
  return file
}

/** The folder itself, or the nearest above it that is there. */
function nearestOf(folder: string): string {
  return existsSync(folder) ? folder : nearestOf(dirname(folder))
}

function read(file: string): string {
  try {
    return readRegularFileSync(file).toString('utf8')
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function writeAll(root: string, files: readonly Planned[]): void {
  const undo: (() => void)[] = []
  try {
    for (const { path, text, mode, action } of files) {
      if (!isWritten(action)) continue
      const file = join(root, path)
      for (const folder of missingOf(dirname(file))) {
        if (makeFolder(folder, mode)) undo.unshift(() => rmdirSync(folder))
      }
      if (action === 'created') {
        // What has come into being since it was looked for is not overwritten either: the undo is for what was made here.
        write(file, text, mode, () => undo.unshift(() => rmSync(file)))
      } else {
        const before = readRegularFileSync(file)
        const { mode: modeBefore } = statSync(file)
        replace(file, text, mode)
        undo.unshift(() => replace(file, before, modeBefore))
      }
    }
  } catch (error) {
    for (const step of undo) {
      try {
        step()
      } catch {
        // What cannot be taken back is less than what the first error has to say.
      }
    }
    throw new CommandFailure(`nothing was written: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Whether it was not there: another run may have made it just now. Where a file has a mode of its own no one else may put
 * another in its place, whatever the umask is.
 */
function makeFolder(folder: string, mode: number | undefined): boolean {
  try {
    mkdirSync(folder, mode === undefined ? 0o777 : 0o755)
    return true
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return false
    throw error
  }
}

/** Writes a file that is not there. A mode is that of its first moment: no one reads a secret before it is set. */
function write(file: string, text: string | Uint8Array, mode: number | undefined, opened: () => void): void {
  const descriptor = openSync(file, 'wx', mode)
  try {
    opened()
    // The umask has taken from it.
    if (mode !== undefined) fchmodSync(descriptor, mode & 0o777)
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}

/** Puts a new file in the place of one, at once: no one reads half of it, or a secret by the permissions of before. */
function replace(file: string, text: string | Uint8Array, mode?: number): void {
  const { uid, gid, mode: modeBefore } = statSync(file)
  const half = `${file}.${randomUUID()}.tmp`
  try {
    write(half, text, mode ?? modeBefore, () => {})
    // Root, who may, leaves the file to whom it belongs.
    if (process.getuid?.() === 0) giveTo(half, uid, gid)
    renameSync(half, file)
  } catch (error) {
    rmSync(half, { force: true })
    throw error
  }
}

function giveTo(file: string, uid: number, gid: number): void {
  const descriptor = openSync(file, 'r+')
  try {
    fchownSync(descriptor, uid, gid)
  } finally {
    closeSync(descriptor)
  }
}

/** The folders on the way that are not there, from the outermost on. Node.js never returns from a recursive mkdir in /proc. */
function missingOf(folder: string): string[] {
  return existsSync(folder) ? [] : [...missingOf(dirname(folder)), folder]
}
