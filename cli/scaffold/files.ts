import { existsSync, lstatSync, mkdirSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { CommandDefinition, CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { above, isInside } from '../project/project.ts'
import { onOff } from '../run/own-command.ts'
import { replaceFile, textOf, writeNew } from '../text-file.ts'

/** A file that a command wants to write. */
export interface ScaffoldFile {
  /** The path relative to the root, with `/`. */
  readonly path: string
  readonly text: string
  /** The permissions, such as `0o600` for secrets, whatever the umask is. Default: those of the system, or of the existing file. */
  readonly mode?: number
  /**
   * What happens to an existing file with different text: `refuse` writes nothing at all without `--force`, `keep` leaves the file
   * without `--force`, `update` always replaces it, for a text that was made from the existing one. Default `refuse`.
   */
  readonly existing?: 'refuse' | 'keep' | 'update'
}

/** The flags of every command that writes files. */
export const scaffoldFlags = {
  force: onOff('Overwrites existing files', { short: 'f' }),
  'dry-run': onOff('Writes nothing; shows what it would write'),
  json: onOff('Prints JSON'),
} as const satisfies CommandDefinition['flags']

type Action = 'created' | 'overwritten' | 'updated' | 'kept' | 'unchanged'

/**
 * Writes files into a folder, which does not have to exist yet, all of them or none, and prints the outcome of each.
 *
 * An existing file with different text is not changed without `--force`, unless its `existing` says otherwise. A file with the same
 * text stays as it is. `about` has the other members of the JSON.
 *
 * @throws CommandFailure, which names the existing files, or the file that cannot be written and why.
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
    const outcomes = planned.map(({ path, action }) => ({ path, action }))
    print(JSON.stringify({ ...about, dryRun: dry, files: outcomes }, null, 2))
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
  if (textOf(file) === text) return 'unchanged'
  if (existing === 'update') return 'updated'
  return existing === 'keep' && !force ? 'kept' : 'overwritten'
}

/** The path of a file in the root; refuses a folder in it that is a link to another place. */
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

/** The folder itself, or its nearest existing parent. */
const nearestOf = (folder: string) => above(folder).find((one) => existsSync(one))!

function writeAll(root: string, files: readonly (ScaffoldFile & { readonly action: Action })[]): void {
  const undo: (() => void)[] = []
  try {
    for (const { path, text, mode, action } of files) {
      if (!isWritten(action)) continue
      const file = join(root, path)
      for (const folder of missingOf(dirname(file))) {
        if (makeFolder(folder, mode)) undo.unshift(() => rmdirSync(folder))
      }
      if (action === 'created') {
        // A file that was created in the meantime is not overwritten, either: the undo is for files that were created here.
        writeNew(file, text, mode, () => undo.unshift(() => rmSync(file)))
      } else {
        const before = readRegularFileSync(file)
        const { mode: modeBefore } = statSync(file)
        replaceFile(file, text, mode)
        undo.unshift(() => replaceFile(file, before, modeBefore))
      }
    }
  } catch (error) {
    // A failure to undo matters less than the first error.
    for (const step of undo) safely(step)
    throw new CommandFailure(`nothing was written: ${(error as Error).message}`, error)
  }
}

/**
 * Creates a folder and returns whether it was missing: another run may have just created it. If a file has a mode of its own, no
 * other user may replace it, whatever the umask is.
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

/** The missing folders of the path, the outermost first. Node.js never returns from a recursive mkdir in /proc. */
const missingOf = (folder: string) =>
  above(folder)
    .filter((one) => !existsSync(one))
    .reverse()
