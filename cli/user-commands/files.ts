import { relative } from 'node:path'
// Not imported through an entry point, which would load everything.
import { isCommandClass } from '../../plugins/command.ts'
import type { CommandDefinition } from '../../plugins/shared/development/command-definition.ts'
import { findFiles } from '../../plugins/shared/files/modules.ts'
import { defaultTimeout, importQuietly } from '../application/load.ts'
import { CommandFailure } from '../failure.ts'
import { faultOf } from './check.ts'
import { commandFolders } from './folders.ts'

/** A command with its origin. */
export interface FoundCommand {
  readonly command: CommandDefinition
  /** Where it comes from: `src/commands/greet.ts`, `the plugin tools`. */
  readonly from: string
}

/** The commands that were found, and why others are missing. */
export interface FoundCommands {
  readonly found: readonly FoundCommand[]
  readonly problems: readonly CommandFailure[]
}

/** Imports the files of the application's commands in this folder; a file that fails does not affect the others. */
export async function userCommands(): Promise<FoundCommands> {
  const folders = commandFolders()
  if (folders.length === 0) return { found: [], problems: [] }
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,mts,js,mjs}`)
  const { files } = await findFiles([...patterns, '!**/*.{test,spec}.*'], process.cwd())
  const found: FoundCommand[] = []
  const problems: CommandFailure[] = []
  const seen = new Set<unknown>()
  for (const file of files) {
    const from = relative(process.cwd(), file)
    try {
      const exported = await importQuietly(file, from, { seconds: defaultTimeout }, async (names) =>
        Object.values(names),
      )
      for (const value of exported) {
        // A command that is exported again by another file counts only once.
        if (seen.has(value)) continue
        seen.add(value)
        const command = commandOf(value, from)
        if (command !== undefined) found.push({ command, from })
      }
    } catch (error) {
      problems.push(asFailure(error))
    }
  }
  return { found, problems }
}

/** The command of an export: an instance of a class, or the result of `defineCommand`; `undefined` for any other export. */
function commandOf(value: unknown, from: string): CommandDefinition | undefined {
  if (isCommandClass(value)) {
    const command = instanceOf(value, from)
    checkCommand(command, `${from}: ${value.name}`)
    return command
  }
  const isClass = typeof value === 'function' && typeof value.prototype?.run === 'function'
  if (isClass && !Object.hasOwn(value.prototype, Symbol.for('framework.command'))) {
    throw new CommandFailure(`${from}: ${value.name} has a method run and does not extend Command`)
  }
  if (typeof value !== 'object' || value === null || typeof (value as CommandDefinition).run !== 'function')
    return undefined
  checkCommand(value as CommandDefinition, `${from}: a command`)
  return value as CommandDefinition
}

/** Checks a command. @throws CommandFailure, which names its origin. */
export function checkCommand(command: CommandDefinition, where: string): void {
  const fault = faultOf(command)
  if (fault !== undefined) throw new CommandFailure(`${where} ${fault}`)
}

function instanceOf(cls: new () => CommandDefinition, from: string): CommandDefinition {
  if (cls.length > 0)
    throw new CommandFailure(
      `${from}: the constructor of ${cls.name} takes arguments, but the framework calls it without arguments`,
    )
  try {
    return new cls()
  } catch (error) {
    throw new CommandFailure(`${from}: ${cls.name} cannot be made: ${(error as Error)?.message ?? String(error)}`, {
      cause: error,
    })
  }
}

export function asFailure(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  return new CommandFailure(error instanceof Error ? error.message : String(error), { cause: error })
}
