import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { projectRoot } from '../project/project.ts'
import { declaringFiles } from '../scaffold/environment/files.ts'
import type { Variable } from '../scaffold/environment/variables.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { placeFor } from '../scaffold/place.ts'
import { quoted } from './env-text.ts'
import { type Made, makeKeys, variablesOf } from './make.ts'
import type { KeyOptions } from './options.ts'

/** The files that declare the variables of keys, and the lines that must be added by hand. */
export interface Declared {
  /** The files, with absolute paths. */
  readonly files: readonly ScaffoldFile[]
  readonly notes: readonly string[]
}

/**
 * The environment module, `.env.example` and `.env.test` of the project, with the variables of keys, so that a clone without
 * `.env` passes its tests. Only for existing files, and only for keys in files that are read in every mode.
 */
export async function declared(options: KeyOptions, made: Made): Promise<Declared> {
  const root = projectRoot(process.cwd())
  const out = resolve(options.out)
  const isRead = root !== undefined && ['.env', '.env.local'].some((file) => out === join(root, file))
  if (!options.env || !isRead) return { files: [], notes: [] }
  const tests: Record<string, string> = existsSync(join(root, '.env.test')) ? await valuesOfTests(options) : {}
  const { files, notes } = declaringFiles(
    placeFor('', undefined),
    Object.keys(variablesOf(options.name, made)).map((name) => variable(name, tests[name])),
  )
  return { files: files.map((file) => ({ ...file, path: join(root, file.path) })), notes }
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
