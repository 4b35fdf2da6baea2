import type {
  CommandArgument,
  CommandDefinition,
  CommandFlag,
  CommandInput,
} from '../../plugins/shared/development/command-definition.ts'
import { wrongUsage } from '../failure.ts'

/** A command of the framework without the members in the registry. */
export type OwnCommandBody = Pick<CommandDefinition, 'arguments' | 'flags' | 'details' | 'run'>

/** The same as `defineCommand`, for a command whose name and description are in the registry. */
export function ownCommand<
  const Arguments extends readonly CommandArgument[] = [],
  const Flags extends { readonly [name: string]: CommandFlag } = {},
>(command: {
  readonly details?: string
  readonly arguments?: Arguments
  readonly flags?: Flags
  run(input: CommandInput<{ arguments: Arguments; flags: Flags }>): ReturnType<CommandDefinition['run']>
}): OwnCommandBody {
  return command as unknown as OwnCommandBody
}

/** The values of a flag that takes several, separated by commas. */
export const listOf = (given = ''): string[] =>
  given
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** The value of a flag that takes whole numbers of a range. @throws CommandFailure for any other. */
export function wholeNumber(flag: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw wrongUsage(`--${flag} takes a whole number from ${least} to ${most}, not ${value}`)
}

type More<Default> = { readonly short?: string; readonly default?: Default }

/** A flag that is on or off. */
export const onOff = <const Rest extends More<boolean> = {}>(description: string, rest?: Rest) =>
  ({ type: 'boolean', description, ...(rest as Rest) }) as const

const taking =
  <Type extends 'string' | 'number', Value>(type: Type) =>
  <const Rest extends More<Value> = {}>(value: string, description: string, rest?: Rest) => ({
    type,
    value,
    description,
    ...(rest as Rest),
  })

/** A flag with a text: what the help calls it, and what it is. */
export const text = taking<'string', string>('string')

/** A flag with a number. */
export const number = taking<'number', number>('number')
