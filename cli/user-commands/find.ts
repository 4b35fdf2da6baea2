import { relative } from 'node:path'
import type { Kernel } from '../../kernel/index.ts'
import { nearest } from '../../kernel/support/nearest.ts'
// Not imported through an entry point, which would load everything.
import { isCommandClass } from '../../plugins/command.ts'
import type { CommandDefinition } from '../../plugins/shared/development/command-definition.ts'
import { findFiles } from '../../plugins/shared/files/modules.ts'
import {
  commandFolders,
  defaultTimeout,
  findEntry,
  importQuietly,
  loadApplication,
  noServer,
} from '../application/load.ts'
import { CommandFailure } from '../failure.ts'
import { programName } from '../package.ts'
import { isOwnName, ownCommands } from '../registry.ts'
import { faultOf } from './check.ts'

/** A command with its origin. */
interface FoundCommand {
  readonly command: CommandDefinition
  /** Where it comes from: `src/commands/greet.ts`, `the plugin tools`. */
  readonly from: string
  readonly isOfPlugin: boolean
}

/** The commands that were found, and why others are missing. */
interface FoundCommands {
  readonly found: readonly FoundCommand[]
  readonly problems: readonly CommandFailure[]
}

/** The commands of an application, those of its files before those of its plugins; two with the same name are a problem, and both are left out. */
export async function applicationCommands(files?: FoundCommands): Promise<FoundCommands> {
  const all = [files ?? (await userCommands()), await pluginCommands()]
  return withoutDuplicates({
    found: all.flatMap(({ found }) => found),
    problems: all.flatMap(({ problems }) => problems),
  })
}

/**
 * Finds a command that is not one of the framework's: in a file of the application, otherwise in one of its plugins, for which
 * the application is loaded.
 *
 * @throws (as a rejection) CommandFailure, which names the nearest command; failures to load are noted first.
 */
export async function findCommand(name: string, note: (line: string) => void): Promise<CommandDefinition> {
  const commandIn = ({ found }: FoundCommands) => found.find(({ command }) => command.name === name)?.command
  const files = await userCommands()
  const own = commandIn(withoutDuplicates(files))
  if (own !== undefined) return own
  const all = await applicationCommands(files)
  const ofPlugin = commandIn(all)
  if (ofPlugin !== undefined) return ofPlugin
  for (const { message } of all.problems) note(message)
  const names = [...ownCommands, ...all.found.map(({ command }) => command)].map((one) => one.name)
  const close = nearest(name, names)
  const hint = close === undefined ? `"${programName} list" lists the commands${unseen()}` : `did you mean "${close}"?`
  // If there is a problem, the name may be right.
  throw new CommandFailure(`there is no command "${name}"; ${hint}`, undefined, all.problems.length === 0 ? 2 : 1)
}

/** Says that the commands of plugins are unknown: users who know that a plugin has the command would look for the mistake there. */
function unseen(): string {
  return findEntry() === undefined ? `. The commands of plugins are unknown: ${noServer()}` : ''
}

function withoutDuplicates({ found, problems }: FoundCommands): FoundCommands {
  const placesOf = (name: string) => found.filter(({ command }) => command.name === name).map(({ from }) => from)
  const names = [...new Set(found.map(({ command }) => command.name))].filter(
    (name) => isOwnName(name) || placesOf(name).length > 1,
  )
  const doubled = names.map((name) => {
    const places = placesOf(name)
    return isOwnName(name)
      ? `${places.join(' and ')}: the command "${name}" is already a command of the framework: rename it`
      : `the command "${name}" is in ${places.join(' and in ')}: rename one`
  })
  return {
    found: found.filter(({ command }) => !names.includes(command.name)),
    problems: [...problems, ...doubled.map((message) => new CommandFailure(message))],
  }
}

/** The commands of plugins; empty if there is no application. */
async function pluginCommands(): Promise<FoundCommands> {
  if (findEntry() === undefined) return { found: [], problems: [] }
  let server: Kernel
  try {
    server = (await loadApplication()).server
  } catch (error) {
    return {
      found: [],
      problems: [new CommandFailure(`the commands of the plugins are not known: ${asFailure(error).message}`)],
    }
  }
  const found = new Map<string, FoundCommand>()
  const problems: CommandFailure[] = []
  for (const { definition } of server.listing.plugins) {
    try {
      for (const command of (await definition.commands?.()) ?? []) {
        checkCommand(command, `the plugin ${definition.name}: a command`)
        // A plugin that is registered in several scopes has its commands once.
        found.set(`${definition.name} ${command.name}`, {
          command,
          from: `the plugin ${definition.name}`,
          isOfPlugin: true,
        })
      }
    } catch (error) {
      problems.push(asFailure(error))
    }
  }
  return { found: [...found.values()], problems }
}

/** Imports the files of the application's commands in this folder; a file that fails does not affect the others. */
async function userCommands(): Promise<FoundCommands> {
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
        if (command !== undefined) found.push({ command, from, isOfPlugin: false })
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
function checkCommand(command: CommandDefinition, where: string): void {
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
    throw new CommandFailure(
      `${from}: ${cls.name} cannot be made: ${(error as Error)?.message ?? String(error)}`,
      error,
    )
  }
}

function asFailure(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  return new CommandFailure(error instanceof Error ? error.message : String(error), error)
}
