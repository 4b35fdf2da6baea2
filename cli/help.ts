import type { CommandDefinition, CommandFlag } from '../plugins/shared/development/command-definition.ts'
import { columns } from './columns.ts'
import type { Output } from './output.ts'
import { programName } from './package.ts'

type Described = Pick<CommandDefinition, 'name' | 'description'>
type Page = Pick<Output, 'print' | 'bold' | 'width'>

/** Some of the framework's own commands, as they are typed. */
export const examples = ['init my-app', 'routes --method POST', 'explain GET /books/5', 'docs PluginSetupError']

/** Commands under a heading of their own; `''` for none. */
export interface CommandGroup {
  readonly heading: string
  readonly commands: readonly Described[]
}

/** Prints rows of two columns, slightly indented. */
function printRows(page: Page, rows: readonly (readonly [left: string, right: string])[]): void {
  for (const line of columns(rows, page.width - 2)) page.print(`  ${line}`)
}

/** The output of `framework` alone and `framework list`; of `framework queue` with the commands that begin with that word. */
export function printCommands(page: Page, groups: readonly CommandGroup[], examples: readonly string[] = []): void {
  const shown = groups.filter(({ commands }) => commands.length > 0)
  // The descriptions of all groups are below each other.
  const width = Math.max(...shown.flatMap(({ commands }) => commands.map(({ name }) => name.length)))
  page.print(page.bold(`Usage: ${programName} <command> [options]`))
  for (const { heading, commands } of shown) {
    page.print('')
    if (heading !== '') page.print(page.bold(heading))
    const rows = commands.map(({ name, description }): [string, string] => [name.padEnd(width), description])
    printRows(page, rows)
  }
  if (examples.length > 0) page.print(`\n${page.bold('Examples')}`)
  for (const example of examples) page.print(`  ${programName} ${example}`)
  page.print(`\n${programName} <command> --help describes a command; ${programName} --version prints the version.`)
}

/** The output of `framework <command> --help`. */
export function printHelp(page: Page, command: Omit<CommandDefinition, 'run'>): void {
  const places = command.arguments ?? []
  const flags = Object.entries(command.flags ?? {})
  const named = places
    .map(({ name, variadic }) => (variadic === true ? `${name}...` : name))
    .map((name, at) => (places[at]?.required === true ? ` <${name}>` : ` [${name}]`))
    .join('')
  page.print(page.bold(`Usage: ${programName} ${command.name}${named}${flags.length > 0 ? ' [options]' : ''}`))
  page.print(`\n${command.description.replace(/\.$/, '')}.`)
  if (command.details !== undefined) page.print(`\n${command.details}`)
  page.print('')
  printRows(page, [
    ...places.map(({ name, description }) => [name, description ?? ''] as const),
    ...flags.map(([name, flag]) => flagRow(name, flag)),
    ['-h, --help', 'Shows this help'],
  ])
}

function flagRow(name: string, flag: CommandFlag): readonly [string, string] {
  const { type, short, value, description = '', default: missing } = flag
  const many = flag.type === 'string' && flag.multiple === true ? '; may be repeated' : ''
  // A flag that is on can only be turned off.
  if (type === 'boolean') return [missing === true ? `--no-${name}` : spelling(name, short), description]
  const taken = `${spelling(name, short)} <${value ?? type}>`
  return [taken, missing === undefined ? `${description}${many}` : `${description} (default ${String(missing)})`]
}

const spelling = (name: string, short: string | undefined) => `${short === undefined ? '' : `-${short}, `}--${name}`
