import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { withLines } from '../text-file.ts'

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
  const unreadable = (why: string) => new CommandFailure(`${path} cannot be read: ${why}; nothing was written`)
  const bytes = orFail(() => readRegularFileSync(file), unreadable)
  // The limit of the env plugin.
  if (bytes.length > 100_000) throw new CommandFailure(`${path} has more than 100 kB: nothing was written`)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const noText = () => new CommandFailure(`${path} is not UTF-8 text: nothing was written`)
  const text = orFail(() => decoder.decode(bytes), noText)
  if (/^\uFEFF?\s*\{/.test(text)) throw new CommandFailure(`${path} is JSON, but --env writes the dotenv format`)
  return text
}

/** Everything up to the value, then a value in quotes, which may have several lines, or the rest of the line before a comment. */
const entry =
  /^(\uFEFF?[^\S\r\n]*(?:export[^\S\r\n]+)?([\w.-]+)(?:[^\S\r\n]*=|:(?=[^\S\r\n])))([^\S\r\n]*)('(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`|[^#\r\n]*)/gm

/** The entries of a text in the form of dotenv, each with the place of its value. */
export function entriesOf(text: string) {
  return [...text.matchAll(entry)].map(({ index, 1: before = '', 2: name = '', 3: gap = '', 4: rest = '' }) => {
    const value = rest.trimEnd()
    // An empty value has its place before the blanks: after them, a comment would touch it and become part of it.
    const start = index + before.length + (value === '' ? 0 : gap.length)
    return { name, value, start, end: start + value.length }
  })
}

const isEmpty = (value: string) => /^(''|""|``)?$/.test(value)

/** Those of the names that have a value in the text. An entry without a value is a place for one. */
export function namesIn(text: string, names: readonly string[]): string[] {
  const entries = entriesOf(text)
  return names.filter((name) => entries.some((one) => one.name === name && !isEmpty(one.value)))
}

/** The text with these values: they replace existing ones, or are added at the end. Everything else stays byte for byte. */
export function withEntries(text: string, values: Readonly<Record<string, string>>): string {
  const found = entriesOf(text).filter(({ name }) => Object.hasOwn(values, name))
  // From the end: the places before it stay.
  const changed = found.reduceRight(
    (all, { name, start, end }) => all.slice(0, start) + quoted(values[name]!) + all.slice(end),
    text,
  )
  const missing = Object.entries(values).filter(([name]) => !found.some((one) => one.name === name))
  const lines = missing.map(([name, value]) => `${name}=${quoted(value)}`)
  return withLines(changed, lines)
}

/** A value on one line: in double quotes, every reader takes `\n` for a line break. PEM and base64 have no quotes or backslashes. */
export const quoted = (value: string) =>
  /^[\w-]+$/.test(value) ? value : `"${value.trimEnd().replaceAll('\n', '\\n')}\\n"`
