import { join } from 'node:path'
import type { CommandDefinition, CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { installCommand } from '../../plugins/shared/environment/optional-package.ts'
import { completed, packageText } from '../init/existing.ts'
import { publishedNotes } from '../keys/ignored.ts'
import { pinMember, pinnedWorkspace, pinsFor, versioned } from '../project/packages.ts'
import { commandLineOf, fromHere, lockFolder, type Project, readManifest } from '../project/project.ts'
import { askedOneOf, cancelled } from '../prompts/ask.ts'
import { text } from '../run/own-command.ts'
import { textOf } from '../text-file.ts'
import { environmentFiles } from './environment/files.ts'
import type { Variable } from './environment/variables.ts'
import { type ScaffoldFile, scaffoldFlags, writeFiles } from './files.ts'
import { ignoreFile } from './ignore.ts'
import { decoratorNotes, envModule, globOf, importPath, inFolder, type Place, placeFor } from './place.ts'
import { fromTemplate, type Values } from './template.ts'

/** The result of a template. */
export interface Scaffold {
  readonly files: readonly ScaffoldFile[]
  /** Packages that the files need when they run. */
  readonly packages?: readonly string[]
  /** The remaining steps, line by line. */
  readonly next: readonly string[]
  /** Variables that the files read. */
  readonly variables?: readonly Variable[]
  /** What git must not keep, such as data. */
  readonly ignored?: readonly string[]
}

/** The flags of every command that writes into the sources of a project. */
export const generateFlags = {
  dir: text('folder', 'The folder to write into, instead of the usual one'),
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
  const { files: own, packages = [], next, variables = [], ignored = [] } = make(place)
  const files = ignored.length === 0 ? own : [...own, ignoreFile(root, ignored)]
  const missing = packages.filter((name) => !dependencies.has(name))
  const install = missing.length === 0 ? undefined : installCommand(packageManager, missing.map(versioned))
  const environment = environmentFiles(place, variables, files)
  const pins = pinFiles(place.project, packages)
  const steps = [...next, ...environment.notes, ...pins.notes]
  const others = files.filter(({ path }) => !environment.files.some((one) => one.path === path))
  writeFiles(root, [...others, ...environment.files, ...pins.files], input, {
    next: steps,
    ...(install !== undefined && { install }),
  })
  if (environment.hasSecret && !input.flags['dry-run'])
    for (const line of publishedNotes(root, ['.env'], 'not seen')) input.note(line)
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
  const kind = await askedOneOf('--type', input.flags.type, kinds)
  if (kind === undefined) return cancelled(input.note)
  scaffold(input, folder, (place) => make(place, kind))
  return 0
}

/**
 * A module, its test and the remaining steps, from the templates with one name: `<template>.ts`, `<template>.test.ts` and
 * `<template>.next`.
 */
export function fromTemplates(place: Place, template: string, name: string, values: Values): Scaffold {
  const path = inFolder(place, `${name}.ts`)
  const all = {
    testModule: place.testModule,
    envModule: envModule(place, path),
    server: place.server,
    module: importPath(place, path),
    glob: globOf(place),
    commandLine: commandLineOf(place.project.packageManager),
    ...values,
  }
  const steps = stepsFrom(`${template}.next`, all)
  return {
    files: [
      { path, text: sourceFrom(`${template}.ts`, all) },
      { path: path.replace(/\.ts$/, '.test.ts'), text: sourceFrom(`${template}.test.ts`, all) },
    ],
    next: values.asClass ? [...steps, ...decoratorNotes(place)] : steps,
  }
}

/** The remaining steps, from a template. */
export const stepsFrom = (template: string, values: Values): string[] =>
  fromTemplate(template, values).trimEnd().split('\n')

/** A module from a template. Its first lines, which import, get the order of formatters, which depends on the values. */
export function sourceFrom(template: string, values: Values): string {
  const lines = fromTemplate(template, values).split('\n')
  const end = lines.findIndex((line) => !line.startsWith('import '))
  const imports = lines
    .slice(0, end)
    .map((line) => [/'(.*)'$/.exec(line)![1]!, line.replace(/(?<=\{ ).*(?= \})/, sortedNames)] as const)
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([, line]) =>
      line.length <= 120 ? line : line.replaceAll(/(?<=\{) | (?=\})|(?<=,) /g, '\n  ').replace('\n  }', ',\n}'),
    )
  return [...imports, ...lines.slice(end)].join('\n')
}

/** Names of an import in the order of formatters: case-insensitive, with the capital first among equal letters. */
function sortedNames(names: string): string {
  const key = (name: string) =>
    [...name.replace(/^type /, '')]
      .map((letter) => letter.toLowerCase() + (letter === letter.toLowerCase() ? 1 : 0))
      .join('')
  return names
    .split(', ')
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
    .join(', ')
}

const rank = (from: string) => (from.includes(':') ? 0 : from.startsWith('.') ? 2 : 1)

/**
 * The setting of the package manager that keeps dependencies of these packages at versions for every supported Node.js. In a
 * workspace, it is read only at the top, where notes say what to add: the command writes nothing outside the project.
 */
function pinFiles({ root, packageManager }: Project, packages: readonly string[]) {
  const [pins, member] = [pinsFor(packages), pinMember(packageManager)]
  const top = lockFolder(root) ?? root
  const path = packageManager === 'pnpm' ? 'pnpm-workspace.yaml' : 'package.json'
  const before = textOf(join(top, path)) ?? ''
  const there = packageManager === 'pnpm' ? before : JSON.stringify(readManifest(join(top, path))[member!] ?? {})
  const missing = Object.entries(pins).filter(([name]) => !there.includes(name))
  if (missing.length === 0 || member === undefined) return { files: [], notes: [] }
  const own = () => packageText(root, completed(root, { ...readManifest(join(root, path)), [member]: pins })!)
  const text = top !== root ? undefined : packageManager === 'pnpm' ? pinnedWorkspace(before, missing) : own()
  if (text !== undefined) return { files: [{ path, text, existing: 'update' } as const], notes: [] }
  const lines = missing.map(([name, version]) => `  ${name}: ${version}`)
  return { files: [], notes: [`Add to ${member} in ${fromHere(join(top, path))}:`, ...lines] }
}
