import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Command, CommandInput } from '../../kernel/index.ts'
import { CommandFailure } from '../failure.ts'

/** A file that a command wants to write. */
export interface ScaffoldFile {
  /** Relative to the root, with `/`. */
  readonly path: string
  readonly text: string
  /** Permissions, `0o600` for secrets. Default: those of the system. */
  readonly mode?: number
}

/** What every command takes that writes files. */
export const scaffoldFlags = {
  force: { type: 'boolean', short: 'f', description: 'Overwrites files that are there' },
  'dry-run': { type: 'boolean', description: 'Writes nothing and tells what it would' },
  json: { type: 'boolean', description: 'Tells it as JSON' },
} as const satisfies Command['flags']

type Action = 'created' | 'overwritten' | 'unchanged'

/**
 * Writes files into a project, all of them or none, and prints what became of each.
 *
 * A file that is there with other text is never touched without `--force`. One with the same text stays as it is.
 *
 * @throws CommandFailure naming the files that are there, or the one that cannot be written and why.
 */
export function writeFiles(
  root: string,
  files: readonly ScaffoldFile[],
  { flags, print }: Pick<CommandInput, 'flags' | 'print'>,
): void {
  const planned = files.map((file) => ({ ...file, action: actionOf(root, file) }))
  const taken = planned.filter(({ action }) => action === 'overwritten').map(({ path }) => path)
  if (taken.length > 0 && flags.force !== true) {
    const are = taken.length === 1 ? 'is there already' : 'are there already'
    throw new CommandFailure(`${taken.join(', ')} ${are}: nothing was written; --force overwrites`)
  }
  const dry = flags['dry-run'] === true
  if (!dry) writeAll(root, planned)
  if (flags.json === true) {
    print(JSON.stringify({ dryRun: dry, files: planned.map(({ path, action }) => ({ path, action })) }, null, 2))
    return
  }
  for (const { path, action } of planned)
    print(`${dry && action !== 'unchanged' ? `would be ${action}` : action}  ${path}`)
}

function actionOf(root: string, { path, text }: ScaffoldFile): Action {
  const file = inside(root, path)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return 'created'
  if (!found.isFile()) throw new CommandFailure(`${path} is there and is no file: nothing was written`)
  return read(file) === text ? 'unchanged' : 'overwritten'
}

/** The file in the root, also when a folder on the way is a link that leads elsewhere. */
function inside(root: string, path: string): string {
  const file = resolve(root, path)
  let there = dirname(file)
  while (!existsSync(there)) there = dirname(there)
  const real = relative(realpathSync(root), realpathSync(there))
  if (!file.startsWith(resolve(root) + sep) || real === '..' || real.startsWith(`..${sep}`)) {
    throw new CommandFailure(`${path} leads out of ${root}: nothing was written`)
  }
  if (!lstatSync(there).isDirectory() && !lstatSync(realpathSync(there)).isDirectory()) {
    throw new CommandFailure(`${relative(root, there)} is a file, and a folder is needed: nothing was written`)
  }
  return file
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function writeAll(root: string, files: readonly (ScaffoldFile & { action: Action })[]): void {
  const undo: (() => void)[] = []
  try {
    for (const { path, text, mode, action } of files) {
      if (action === 'unchanged') continue
      const file = join(root, path)
      const folder = dirname(file)
      const made = mkdirSync(folder, { recursive: true })
      if (made !== undefined) undo.unshift(() => removeEmpty(folder, made))
      const before = action === 'overwritten' ? readFileSync(file) : undefined
      // `wx`: what has come into being since it was looked for is not overwritten either.
      writeFileSync(file, text, { flag: before === undefined ? 'wx' : 'w', ...(mode !== undefined && { mode }) })
      undo.unshift(() => (before === undefined ? rmSync(file) : writeFileSync(file, before)))
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

/** Removes folders that this run has made, from the innermost up to the first. */
function removeEmpty(folder: string, first: string): void {
  for (let one = folder; ; one = dirname(one)) {
    rmdirSync(one)
    if (one === resolve(first)) return
  }
}
