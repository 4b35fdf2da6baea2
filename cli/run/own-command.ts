import type {
  CommandArgument,
  CommandDefinition,
  CommandFlag,
  CommandInput,
} from '../../plugins/shared/development/command-definition.ts'

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
