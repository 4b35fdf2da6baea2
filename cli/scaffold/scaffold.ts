import { join } from 'node:path'
import type { CommandDefinition, CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { installCommand } from '../../plugins/shared/environment/optional-package.ts'
import { existingIndent } from '../init/existing.ts'
import { pinMember, pinnedWorkspace, pinsFor, versioned } from '../project/packages.ts'
import { type Project, readManifest } from '../project/project.ts'
import { cancelled, oneOf } from '../prompts/ask.ts'
import { textOf } from '../text-file.ts'
import { environmentFiles } from './environment/files.ts'
import type { Variable } from './environment/variables.ts'
import { type ScaffoldFile, scaffoldFlags, writeFiles } from './files.ts'
import { type Place, placeFor } from './place.ts'

/** The result of a template. */
export interface Scaffold {
  readonly files: readonly ScaffoldFile[]
  /** Packages that the files need when they run. */
  readonly packages?: readonly string[]
  /** The remaining steps, line by line. */
  readonly next: readonly string[]
  /** Variables that the files read. */
  readonly variables?: readonly Variable[]
}

/** The flags of every command that writes into the sources of a project. */
export const generateFlags = {
  dir: { type: 'string', value: 'folder', description: 'Another folder of the project' },
  ...scaffoldFlags,
} as const satisfies CommandDefinition['flags']

/** Writes the result of a template into the surrounding project, and prints the remaining steps. */
export function scaffold(
  input: CommandInput<{ readonly flags: typeof generateFlags }>,
  folder: string,
  make: (place: Place) => Scaffold,
): void {
  const place = placeFor(folder, input.flags.dir)
  const { root, packageManager, dependencies } = place.project
  const { files, packages = [], next, variables = [] } = make(place)
  const missing = packages.filter((name) => !dependencies.has(name))
  const install = missing.length === 0 ? undefined : installCommand(packageManager, missing.map(versioned))
  const environment = environmentFiles(place, variables, files)
  const steps = [...next, ...environment.notes]
  const others = files.filter(({ path }) => !environment.files.some((one) => one.path === path))
  writeFiles(root, [...others, ...environment.files, ...pinFiles(place.project, packages)], input, {
    next: steps,
    ...(install !== undefined && { install }),
  })
  // The JSON already has the steps.
  if (input.flags.json) return
  if (install !== undefined) input.note(`\nPackages that it needs:\n  ${install}`)
  if (steps.length > 0) input.note(`\n${steps.join('\n')}`)
}

/** The same for one of several kinds, from the flag `--type` or from the user; resolves with the exit code. */
export async function scaffoldOneOf<Kind extends string>(
  input: CommandInput<{ readonly flags: typeof generateFlags & { readonly type: { readonly type: 'string' } } }>,
  kinds: readonly [Kind, ...Kind[]],
  folder: string,
  make: (place: Place, kind: Kind) => Scaffold,
): Promise<number> {
  const kind = await oneOf('--type', input.flags.type, kinds)
  if (kind === undefined) return cancelled(input.note)
  scaffold(input, folder, (place) => make(place, kind))
  return 0
}

/** For each of several kinds, whether it is this one: the conditions of a template. */
export const isKind = (kind: string, kinds: readonly string[]): Readonly<Record<string, boolean>> =>
  Object.fromEntries(kinds.map((one) => [one, one === kind]))

/** The setting of the package manager that keeps dependencies of these packages at versions for every supported Node.js. */
function pinFiles({ root, packageManager }: Project, packages: readonly string[]): ScaffoldFile[] {
  const pins = pinsFor(packages)
  if (Object.keys(pins).length === 0) return []
  if (packageManager === 'pnpm') {
    const file = join(root, 'pnpm-workspace.yaml')
    const text = textOf(file) ?? ''
    const pinned = pinnedWorkspace(text, pins)
    return pinned === text ? [] : [{ path: 'pnpm-workspace.yaml', text: pinned, existing: 'update' }]
  }
  const member = pinMember(packageManager)
  const manifest = readManifest(join(root, 'package.json'))
  const there = member === undefined ? {} : ((manifest[member] ?? {}) as Readonly<Record<string, unknown>>)
  if (member === undefined || Object.keys(pins).every((name) => name in there)) return []
  const text = JSON.stringify({ ...manifest, [member]: { ...pins, ...there } }, null, existingIndent(root) ?? '  ')
  return [{ path: 'package.json', text: `${text}\n`, existing: 'update' }]
}
