import type { Logger } from '../kernel/support/logger.ts'
import type {
  CommandArgument,
  CommandDefinition,
  CommandFlag,
  CommandInput,
} from './shared/development/command-definition.ts'
import { lineLogger } from './shared/logging/logger.ts'

/** Marks the class; `Symbol.for`, so that a command from another copy of the package is recognised. */
const brand = Symbol.for('framework.command')

/**
 * The base class of a command; `framework` finds its subclasses in `src/commands`, and creates one instance of each, without arguments.
 *
 * Write `as const` after the declarations: `CommandInput<this>` reads the types from them.
 *
 * @example
 * import { Command, type CommandInput } from 'framework'
 *
 * export class Greet extends Command {
 *   readonly name = 'greet'
 *   readonly description = 'Greets someone'
 *   override readonly arguments = [{ name: 'who', description: 'Whom', required: true }] as const
 *   override readonly flags = { loud: { type: 'boolean', short: 'l', description: 'In capitals' } } as const
 *
 *   run({ arguments: { who }, flags, print }: CommandInput<this>) {
 *     print(flags.loud ? `HELLO ${who.toUpperCase()}` : `Hello ${who}`)
 *   }
 * }
 */
export abstract class Command implements CommandDefinition {
  abstract readonly name: string
  abstract readonly description: string
  declare readonly details?: string
  /** Its positional arguments, in order; the `arguments` that `run` receives have the types that follow from them. */
  declare readonly arguments?: readonly CommandArgument[]
  /** Its options by name: `force` is typed as `--force`. */
  declare readonly flags?: { readonly [name: string]: CommandFlag }
  /** A logger with the name of the class; it writes to standard error, from `warn` on. */
  readonly logger: Logger

  constructor() {
    this.logger = lineLogger().child({ command: new.target.name })
  }

  abstract run(input: CommandInput): ReturnType<CommandDefinition['run']>

  get [brand](): true {
    return true
  }
}

/** Whether a value is a class of commands, from this copy of the package or another; `Command` itself is not. */
export function isCommandClass(value: unknown): value is new () => CommandDefinition {
  if (typeof value !== 'function' || typeof value.prototype !== 'object' || value.prototype === null) return false
  return brand in value.prototype && !Object.hasOwn(value.prototype, brand)
}
