import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { CommandFailure } from '../failure.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { namesIn, withEntries } from './env-text.ts'

/** The file of `--env` with these variables; `path` is its name in messages and in the result. */
export function envFile(
  file: string,
  path: string,
  variables: Record<string, string>,
  force: boolean,
): { file: ScaffoldFile; notes: string[] } {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return { file: { path, text: withEntries('', variables), mode: 0o600 }, notes: [] }
  const why = whyNot(found, file, path)
  if (why !== undefined) throw new CommandFailure(`${path} ${why}; nothing was written`)
  const text = textOf(file, path)
  const taken = namesIn(text, Object.keys(variables))
  if (taken.length > 0 && !force) {
    throw new CommandFailure(
      `${path} has ${taken.join(' and ')} already: nothing was written; --force replaces them, and everything that they signed or encrypted becomes unusable`,
    )
  }
  const changed = { path, text: withEntries(text, variables), existing: 'update' } as const
  // Windows has no such bits: every file seems to be readable by everyone.
  if ((found.mode & 0o077) === 0 || process.platform === 'win32') return { file: changed, notes: [] }
  const before = (found.mode & 0o777).toString(8)
  return {
    file: { ...changed, mode: 0o600 },
    notes: [
      `Others can read ${path} or write to it (mode ${before}): the command sets its mode to 600, for its owner only`,
    ],
  }
}

/** Why an existing file is not changed. */
function whyNot(found: Stats, file: string, path: string): string | undefined {
  if (found.isSymbolicLink()) return `is a link to ${readlinkSync(file)}: pass the file itself with --out`
  if (found.isDirectory()) return 'is a folder: pass a file with --out'
  if (!found.isFile()) return 'is not a regular file: pass one with --out'
  const user = process.getuid?.() ?? 0
  // The file would be replaced, and be owned by this user from then on. Root, who may do so, keeps the owner.
  if (user !== 0 && found.uid !== user) {
    return `belongs to another user (uid ${found.uid}): run this as that user, or pass another file with --out`
  }
  // A read-only file must not be changed; a replacement, or root, would ignore the mode.
  if ((found.mode & 0o200) === 0) return `is read-only: chmod u+w ${path}, or pass another file with --out`
  return undefined
}

function textOf(file: string, path: string): string {
  let bytes: Uint8Array
  try {
    bytes = readRegularFileSync(file)
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}; nothing was written`, {
      cause: error,
    })
  }
  // The limit of the env plugin.
  if (bytes.length > 100_000) throw new CommandFailure(`${path} has more than 100 kB: nothing was written`)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new CommandFailure(`${path} is not UTF-8 text: nothing was written`, { cause: error })
  }
  if (/^\uFEFF?\s*\{/.test(text)) throw new CommandFailure(`${path} is JSON, but --env writes the dotenv format`)
  return text
}
