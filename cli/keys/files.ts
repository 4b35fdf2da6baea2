import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { projectRoot } from '../project/project.ts'
import { declaringFiles } from '../scaffold/environment/files.ts'
import type { Variable } from '../scaffold/environment/variables.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { placeFor } from '../scaffold/place.ts'
import { envFile, quoted } from './env-file.ts'
import { ignorePlace, leaveOut, outsideNote, publishedNotes, repositoryOf } from './ignored.ts'
import { type Made, makeKeys, variablesOf } from './make.ts'
import type { KeyOptions } from './options.ts'

/** The files for a key. @throws CommandFailure for existing variables that only `force` replaces, or if their file cannot be used. */
export async function keyFiles(options: KeyOptions, made: Made, force: boolean) {
  const declared = await declaredBy(options, made)
  const out = resolve(options.out)
  const folder = options.env ? dirname(out) : out
  const place = ignorePlace(process.cwd())
  // A folder elsewhere is intended if it is named, but not if a link from here leads to it.
  const isHere = folder === place.folder || folder.startsWith(place.folder + sep)
  const root = isHere ? place.folder : folder
  const at = (path: string) => relative(root, path).split(sep).join('/')
  const env = options.env ? envFile(out, at(out), variablesOf(options.name, made), force) : undefined
  const files = env ? [env.file] : pemFiles(options, made).map((file) => ({ ...file, path: at(join(out, file.path)) }))
  /** The secret files. */
  const secret = files.map(({ path }) => path).filter((path) => !path.endsWith('-public.pem'))
  // If the files have a folder of their own, it is ignored as a whole, so that the next key is also ignored.
  const left = options.env || folder === root ? secret[0]! : `${at(folder)}/`
  const repository = repositoryOf(folder)
  const isOutside = !isHere || repository !== place.repository
  const outside = { file: undefined, notes: repository === undefined ? [outsideNote(folder, secret[0]!)] : [] }
  const { file: ignoring, notes } = isOutside ? outside : leaveOut(place, left)
  const declaring = declared.files.map((file) => ({ ...file, path: at(resolve(file.path)) }))
  return {
    root,
    files: [...files, ...declaring, ...(ignoring === undefined ? [] : [ignoring])],
    notes: [...(env?.notes ?? []), ...declared.notes, ...notes],
    /** Returns the notes once everything is written. */
    after: () => (notes.length > 0 ? [] : publishedNotes(root, secret, isOutside ? 'ignored' : 'not seen')),
  }
}

function pemFiles({ name: { file } }: KeyOptions, made: Made): ScaffoldFile[] {
  if ('secret' in made) return [{ path: `${file}-secret`, text: made.secret, mode: 0o600 }]
  return [
    { path: `${file}-private.pem`, text: made.privateKey, mode: 0o600 },
    { path: `${file}-public.pem`, text: made.publicKey, mode: 0o644 },
  ]
}

/**
 * The environment module, `.env.example` and `.env.test` of the project, with the variables of keys, so that a clone without
 * `.env` passes its tests. Only for existing files, and only for keys in files that are read in every mode.
 */
async function declaredBy(options: KeyOptions, made: Made) {
  const root = projectRoot(process.cwd())
  const out = resolve(options.out)
  const isRead = root !== undefined && ['.env', '.env.local'].some((file) => out === join(root, file))
  if (!options.env || !isRead) return { files: [], notes: [] }
  const tests: Record<string, string> = existsSync(join(root, '.env.test')) ? await valuesOfTests(options) : {}
  const variables = Object.keys(variablesOf(options.name, made)).map((name) => variable(name, tests[name]))
  return declaringFiles(placeFor('', undefined), variables)
}

/** Makes worthless keys for tests: `.env.test` is committed, so the passphrase of the real key does not protect them, either. */
async function valuesOfTests(options: KeyOptions): Promise<Record<string, string>> {
  const { type, bits } = options
  if (type === 'secret') return variablesOf(options.name, { secret: 'a secret that only tests know' })
  const values = Object.entries(variablesOf(options.name, await makeKeys(type, { bits })))
  return Object.fromEntries(values.map(([name, value]) => [name, quoted(value)]))
}

const variable = (name: string, test: string | undefined): Variable => ({
  name,
  type: name.endsWith('_PUBLIC_KEY') ? 'string()' : 'string({ secret: true })',
  example: '',
  value: '',
  ...(test !== undefined && { test }),
})
