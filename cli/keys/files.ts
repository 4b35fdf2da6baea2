import { dirname, join, relative, resolve, sep } from 'node:path'
import type { ScaffoldFile } from '../scaffold/files.ts'
import type { Declared } from './declared.ts'
import { envFile } from './env-file.ts'
import { ignorePlace, leaveOut, outsideNote, publishedNotes, repositoryOf } from './ignored.ts'
import { type Made, variablesOf } from './make.ts'
import type { KeyOptions } from './options.ts'

/** The files to write, and the notes to print. */
interface KeyFiles {
  readonly root: string
  readonly files: readonly ScaffoldFile[]
  readonly notes: readonly string[]
  /** Returns the notes once everything is written. */
  readonly after: () => readonly string[]
}

/** The files for a key. @throws CommandFailure for existing variables that only `force` replaces, or if their file cannot be used. */
export function keyFiles(options: KeyOptions, made: Made, declared: Declared, force: boolean): KeyFiles {
  const out = resolve(options.out)
  const folder = options.env ? dirname(out) : out
  const place = ignorePlace(process.cwd())
  // A folder elsewhere is intended if it is named, but not if a link from here leads to it.
  const isHere = folder === place.folder || folder.startsWith(place.folder + sep)
  const root = isHere ? place.folder : folder
  const at = (path: string) => relative(root, path).split(sep).join('/')
  const { files, notes } = options.env
    ? envFiles(out, at(out), variablesOf(options.name, made), force)
    : { files: pemFiles(options, made).map((file) => ({ ...file, path: at(join(out, file.path)) })), notes: [] }
  const declaring = declared.files.map((file) => ({ ...file, path: at(file.path) }))
  /** The secret files. */
  const secret = files.map(({ path }) => path).filter((path) => !path.endsWith('-public.pem'))
  // If the files have a folder of their own, it is ignored as a whole, so that the next key is also ignored.
  const left = options.env || folder === root ? secret[0]! : `${at(folder)}/`
  const repository = repositoryOf(folder)
  if (!isHere || repository !== place.repository) {
    const about = repository === undefined ? [outsideNote(folder, secret[0]!)] : []
    const after = () => (repository === undefined ? [] : publishedNotes(root, secret, 'ignored'))
    return { root, files: [...files, ...declaring], notes: [...notes, ...declared.notes, ...about], after }
  }
  const { file, notes: about } = leaveOut(place, left)
  const after = () => (about.length > 0 ? [] : publishedNotes(root, secret, 'not seen'))
  const ignoring = file === undefined ? [] : [file]
  return {
    root,
    files: [...files, ...declaring, ...ignoring],
    notes: [...notes, ...declared.notes, ...about],
    after,
  }
}

function envFiles(file: string, path: string, variables: Record<string, string>, force: boolean) {
  const { file: changed, notes } = envFile(file, path, variables, force)
  return { files: [changed], notes }
}

function pemFiles({ name: { file } }: KeyOptions, made: Made): ScaffoldFile[] {
  if ('secret' in made) return [{ path: `${file}-secret`, text: made.secret, mode: 0o600 }]
  return [
    { path: `${file}-private.pem`, text: made.privateKey, mode: 0o600 },
    { path: `${file}-public.pem`, text: made.publicKey, mode: 0o644 },
  ]
}
