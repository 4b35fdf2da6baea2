import type { HostServer } from '../../../kernel/http/request/request.ts'

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** Commands for the command line, loaded when it needs them. */
    commands?(): Promise<readonly CommandDefinition[]>
  }
}

/** What the help says about an option. */
interface FlagText {
  /** One letter: `l` for `-l`. */
  readonly short?: string
  /** What the option is for, in one sentence. */
  readonly description?: string
  /** The placeholder of the value in the help: `file` shows `--out <file>`. */
  readonly value?: string
}

/**
 * One option of a command. Its `type` decides the form: `--name value`, or for a boolean `--name`, and `--no-name` where the `default` is
 * true. Without a default, the option is absent unless it is typed. With `multiple` it may be repeated, and its value is a list of strings.
 */
export type CommandFlag =
  | (FlagText & { readonly type: 'string'; readonly default?: string; readonly multiple?: false })
  | (FlagText & { readonly type: 'string'; readonly multiple: true; readonly default?: never })
  | (FlagText & { readonly type: 'number'; readonly default?: number })
  | (FlagText & { readonly type: 'boolean'; readonly default?: boolean })

/** One positional argument of a command. */
export interface CommandArgument {
  /** Its name in the usage, and its key in `arguments`. */
  readonly name: string
  /** One sentence for `--help`. */
  readonly description?: string
  /** Whether the command refuses to run without it; default false. */
  readonly required?: boolean
  /** Whether it receives all remaining arguments as a list, which may be empty; for the last argument only. */
  readonly variadic?: boolean
}

/** The arguments and flags after the name of a command. */
export interface CommandShape {
  /** Positional arguments, in order; required ones first, a variadic one last. */
  readonly arguments?: readonly CommandArgument[]
  /** Options by name: `force` is typed as `--force`. Every command has `help`, and a name must not begin with `no-`. */
  readonly flags?: { readonly [name: string]: CommandFlag }
}

/** The arguments of a command by name: a `string` where they are required, a list where they are variadic. */
export type CommandArguments<List> = List extends readonly CommandArgument[]
  ? { readonly [One in List[number] as One['name']]: ArgumentValue<One> }
  : {}

type ArgumentValue<One> = CommandArgument extends One
  ? string | readonly string[] | undefined
  : One extends { readonly variadic: true }
    ? One extends { readonly required: true }
      ? readonly [string, ...string[]]
      : readonly string[]
    : One extends { readonly required: true }
      ? string
      : string | undefined

/** The flags of a command by name: always present where there is a default, `false` for a `boolean` that was not given, a list where they are `multiple`. */
export type CommandFlags<Flags> = { readonly [Name in keyof Flags]: FlagValue<Flags[Name]> }

type FlagValue<Flag> = Flag extends { readonly type: 'boolean' }
  ? boolean
  : Flag extends { readonly multiple: true }
    ? readonly string[]
    : Flag extends { readonly type: infer Type extends keyof FlagTypes }
      ? Flag extends { readonly default: string | number }
        ? FlagTypes[Type]
        : FlagTypes[Type] | undefined
      : never

interface FlagTypes {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
}

/** The argument of a command's `run`. */
export interface CommandInput<Shape extends CommandShape = Required<CommandShape>> {
  /** The positional arguments by name, converted and checked. */
  readonly arguments: CommandArguments<Shape['arguments']>
  /** The options by name, converted and checked, with their defaults. */
  readonly flags: CommandFlags<Shape['flags']>
  /** Writes a line of the result to standard output. */
  print(line: string): void
  /** Writes a line about the result to standard error, so that a pipe does not receive it. */
  note(line: string): void
  /**
   * Boots a server without listening, and closes it when the command has ended, for whatever reason. Default: the server
   * of the application, which is found as for every command.
   *
   * @throws (as a rejection) the failure of the boot, naming the plugin.
   */
  boot<Server extends HostServer = HostServer>(server?: Server): Promise<Server>
}

/** A command of the command line: data, so that it can be listed without running anything. */
export interface CommandDefinition extends CommandShape {
  /** The name that is typed to run it: a letter, then letters, digits, `-`, `_`, `.` and `:`. */
  readonly name: string
  /** What the command does, in one line, for the list of commands. */
  readonly description: string
  /** Further text for the help of this command. */
  readonly details?: string
  /** Runs the command. The returned number, 0 to 255, is the exit code; without one it is 0. An error is exit code 1 with its message. */
  run(input: CommandInput): void | number | Promise<void | number>
}

/**
 * Gives a command the types of its declarations, so that `run` knows its arguments and flags.
 *
 * @example
 * export const greet = defineCommand({
 *   name: 'greet',
 *   description: 'Greets someone',
 *   arguments: [{ name: 'who', description: 'Whom', required: true }],
 *   flags: { times: { type: 'number', default: 1 } },
 *   run({ arguments: { who }, flags, print }) {
 *     for (let time = 0; time < flags.times; time++) print(`Hello ${who}`)
 *   },
 * })
 */
export function defineCommand<
  const Arguments extends readonly CommandArgument[] = [],
  const Flags extends { readonly [name: string]: CommandFlag } = {},
>(
  command: Omit<CommandDefinition, 'arguments' | 'flags' | 'run'> & {
    readonly arguments?: Arguments
    readonly flags?: Flags
    run(input: CommandInput<{ arguments: Arguments; flags: Flags }>): ReturnType<CommandDefinition['run']>
  },
): CommandDefinition {
  // The runner passes the declared arguments.
  return command as unknown as CommandDefinition
}
