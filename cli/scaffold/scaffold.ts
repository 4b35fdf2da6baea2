import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandDefinition, CommandInput } from '../../plugins/toolkit/command-definition.ts'
import { readRegularFileSync } from '../../plugins/toolkit/read-file.ts'
import { installCommand } from '../project/project.ts'
import { type ScaffoldFile, scaffoldFlags, writeFiles } from './files.ts'
import { type Place, placeFor } from './place.ts'

/** What a template makes. */
export interface Scaffold {
  readonly files: readonly ScaffoldFile[]
  /** Packages that the files need when they run. */
  readonly packages?: readonly string[]
  /** What is left to do, line by line. */
  readonly next: readonly string[]
  /** Variables that the files read, `NAME=example`, and what is to be said of them. */
  readonly environment?: { readonly about: string; readonly variables: readonly string[] }
}

/** The flags of every command that writes into the sources of a project. */
export const generateFlags = {
  dir: { type: 'string', value: 'folder', description: 'Another folder of the project' },
  ...scaffoldFlags,
} as const satisfies CommandDefinition['flags']

/** Writes what a template makes into the project around, and tells what is left to do. */
export function scaffold(
  input: CommandInput<{ readonly flags: typeof generateFlags }>,
  folder: string,
  make: (place: Place) => Scaffold,
): void {
  const place = placeFor(folder, input.flags.dir)
  const { root, packageManager, dependencies } = place.project
  const { files, packages = [], next, environment } = make(place)
  const missing = packages.filter((name) => !dependencies.has(name))
  const install = missing.length === 0 ? undefined : installCommand(packageManager, missing)
  const variables = environment?.variables ?? []
  const steps =
    environment === undefined ? next : [...next, environment.about, ...variables.map((variable) => `  ${variable}`)]
  writeFiles(root, [...files, ...exampleWith(root, variables)], input, {
    next: steps,
    ...(install !== undefined && { install }),
  })
  // The JSON says it already.
  if (input.flags.json) return
  if (install !== undefined) input.note(`\nPackages that it needs:\n  ${install}`)
  if (steps.length > 0) input.note(`\n${steps.join('\n')}`)
}

/** The `.env.example` of the project, where it has one, with the variables that it lacks behind `#`. */
function exampleWith(root: string, variables: readonly string[]): ScaffoldFile[] {
  const file = join(root, '.env.example')
  if (variables.length === 0 || !existsSync(file)) return []
  const text = readRegularFileSync(file).toString('utf8')
  const known = new Set([...text.matchAll(/^[\s#]*(?:export\s+)?(\w+)\s*=/gm)].map(([, name]) => name))
  const missing = variables.filter((variable) => !known.has(variable.split('=')[0]))
  if (missing.length === 0) return []
  const gap = text === '' || text.endsWith('\n') ? '' : '\n'
  const lines = missing.map((variable) => `# ${variable}\n`)
  return [{ path: '.env.example', text: text + gap + lines.join(''), existing: 'update' }]
}
