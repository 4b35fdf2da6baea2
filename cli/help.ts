import type { Command } from '../kernel/index.ts'
import type { Output } from './output.ts'
import { ownCommands } from './registry.ts'

type Described = Pick<Command, 'name' | 'description'>

/** Rows of two columns. */
export function columns(rows: readonly (readonly [left: string, right: string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd())
}

/** What `framework` alone and `framework list` show. */
export function printCommands(output: Pick<Output, 'print' | 'bold'>, others: readonly Described[] = []): void {
  const row = ({ name, description }: Described) => [name, description] as const
  output.print(output.bold('Usage: framework <command> [options]'))
  output.print('')
  const [own, theirs] = [columns(ownCommands.map(row)), columns(others.map(row))]
  for (const line of own) output.print(line)
  if (theirs.length > 0) {
    output.print('')
    output.print(output.bold('Of the plugins of this application'))
    for (const line of theirs) output.print(line)
  }
  output.print('')
  output.print('framework <command> --help tells more about one, framework --version the version.')
}

/** What `framework <command> --help` shows. */
export function printHelp(output: Pick<Output, 'print' | 'bold'>, command: Omit<Command, 'run'>): void {
  const places = command.arguments ?? []
  const flags = Object.entries(command.flags ?? {})
  const named = places.map(({ name, required }) => (required === true ? ` <${name}>` : ` [${name}]`)).join('')
  output.print(output.bold(`Usage: framework ${command.name}${named}${flags.length > 0 ? ' [options]' : ''}`))
  output.print('')
  output.print(`${command.description}.`)
  if (command.details !== undefined) output.print(`\n${command.details}`)
  const rows = [
    ...places.map(({ name, description }) => [name, description ?? ''] as const),
    ...flags.map(([name, { type, short, value, description = '', default: missing }]) => {
      const spelling = `${short === undefined ? '' : `-${short}, `}--${name}`
      const taken = type === 'boolean' ? '' : ` <${value ?? type}>`
      return [
        spelling + taken,
        missing === undefined ? description : `${description} (default ${String(missing)})`,
      ] as const
    }),
    ['-h, --help', 'Shows this'] as const,
  ]
  output.print('')
  for (const line of columns(rows)) output.print(line)
}
