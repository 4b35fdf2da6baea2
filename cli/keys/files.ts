import { lstatSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { CommandFailure } from '../failure.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { namesIn, withEntries } from './env-text.ts'
import { ignoreFileFor, ignoringFolder } from './ignored.ts'
import type { Made } from './make.ts'
import type { KeyOptions } from './options.ts'

/** What is to be written, and what is to be told besides. */
interface KeyFiles {
  readonly root: string
  readonly files: readonly ScaffoldFile[]
  readonly notes: readonly string[]
}

/** @throws CommandFailure when variables are there that only `force` replaces, or when their file cannot be used. */
export function keyFiles(options: KeyOptions, made: Made, force: boolean): KeyFiles {
  const out = resolve(options.out)
  const folder = options.env ? dirname(out) : out
  const around = ignoringFolder(process.cwd()) ?? process.cwd()
  // Whoever names a folder elsewhere means it; what leads there by a link from here was not named.
  const isHere = folder === around || folder.startsWith(around + sep)
  const root = isHere ? around : folder
  const at = (path: string) => relative(root, path).split(sep).join('/')
  const notes: string[] = []
  const files = options.env
    ? [envFile(out, at(out), variablesOf(options, made), force, notes)]
    : pemFiles(options, made).map((file) => ({ ...file, path: at(join(out, file.path)) }))
  const ignore = isHere && lstatSync(join(root, '.gitignore'), { throwIfNoEntry: false })?.isFile() === true
  const secret = options.env || folder === root ? files[0]!.path : `${at(folder)}/`
  const text = ignore ? ignoreFileFor(root, secret) : undefined
  if (text === undefined) return { root, files, notes }
  return { root, files: [...files, { path: '.gitignore', text, existing: 'update' }], notes }
}

function pemFiles({ name: { file } }: KeyOptions, made: Made): ScaffoldFile[] {
  if ('secret' in made) return [{ path: `${file}-secret`, text: made.secret, mode: 0o600 }]
  return [
    { path: `${file}-private.pem`, text: made.privateKey, mode: 0o600 },
    { path: `${file}-public.pem`, text: made.publicKey, mode: 0o644 },
  ]
}

function variablesOf({ name: { variable } }: KeyOptions, made: Made): Record<string, string> {
  if ('secret' in made) return { [`${variable}_SECRET`]: made.secret }
  return { [`${variable}_PRIVATE_KEY`]: made.privateKey, [`${variable}_PUBLIC_KEY`]: made.publicKey }
}

function envFile(
  file: string,
  path: string,
  variables: Record<string, string>,
  force: boolean,
  notes: string[],
): ScaffoldFile {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return { path, text: withEntries('', variables), mode: 0o600 }
  if (!found.isFile()) throw new CommandFailure(`${path} is there and is no file: nothing was written`)
  const text = envTextOf(file, path)
  const taken = namesIn(text, Object.keys(variables))
  if (taken.length > 0 && !force) {
    throw new CommandFailure(
      `${path} has ${taken.join(' and ')} already: nothing was written; --force replaces them, and what they have signed or encrypted is lost`,
    )
  }
  if ((found.mode & 0o077) !== 0 && process.platform !== 'win32') {
    notes.push(`Others than you can read ${path} (mode ${(found.mode & 0o777).toString(8)}): chmod 600 ${path}`)
  }
  return { path, text: withEntries(text, variables), existing: 'update' }
}

function envTextOf(file: string, path: string): string {
  const bytes = readFileSync(file)
  // As much as the env plugin reads.
  if (bytes.length > 100_000) throw new CommandFailure(`${path} has more than 100 kB: nothing was written`)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new CommandFailure(`${path} is no text in UTF-8: nothing was written`, { cause: error })
  }
  if (/^\uFEFF?\s*\{/.test(text)) throw new CommandFailure(`${path} is JSON: --env writes the form of dotenv`)
  return text
}
