import { relative } from 'node:path'
import { nearest } from '../../kernel/support/nearest.ts'
// Not imported through an entry point, which would load everything.
import { isCommandClass } from '../../plugins/command.ts'
import type { CommandDefinition } from '../../plugins/shared/development/command-definition.ts'
import { findFiles } from '../../plugins/shared/files/modules.ts'
import { messageOf, orFail } from '../../plugins/shared/values/safely.ts'
import { commandFolders, findEntry, importQuietly, loadApplication, noServer } from '../application/load.ts'
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
  readonly found: FoundCommand[]
  readonly problems: CommandFailure[]
}

/** The commands of an application, those of its files before those of its plugins; two with the same name are a problem, and both are left out. */
export async function applicationCommands(): Promise<FoundCommands> {
  const all: FoundCommands = { found: [], problems: [] }
  await addUserCommands(all)
  await addPluginCommands(all)
  return withoutDuplicates(all)
}

/** Takes each value; a failure of one, or to find them, is a problem of its own, and does not affect the rest. */
async function takeEach<One>(
  problems: CommandFailure[],
  find: () => Promise<readonly One[]>,
  take: (one: One) => void,
) {
  const note = (error: unknown) => void problems.push(asFailure(error))
  for (const value of (await find().catch(note)) ?? []) await (async () => take(value))().catch(note)
}

/**
 * Finds a command that is not one of the framework's: in a file of the application, otherwise in one of its plugins, for which
 * the application is loaded.
 *
 * @throws (as a rejection) CommandFailure, which names the nearest command; failures to load are noted first.
 */
export async function findCommand(name: string, note: (line: string) => void): Promise<CommandDefinition> {
  const every: FoundCommands = { found: [], problems: [] }
  for (const add of [addUserCommands, addPluginCommands]) {
    await add(every)
    const one = withoutDuplicates(every).found.find(({ command }) => command.name === name)
    if (one !== undefined) return one.command
  }
  const all = withoutDuplicates(every)
  for (const { message } of all.problems) note(message)
  const names = [...ownCommands, ...all.found.map(({ command }) => command)].map((one) => one.name)
  const close = nearest(name, names)
  // Users who know that a plugin has the command would look for the mistake there.
  const unseen = findEntry() === undefined ? `. The commands of plugins are unknown: ${noServer()}` : ''
  const hint = close === undefined ? `"${programName} list" lists the commands${unseen}` : `did you mean "${close}"?`
  // If there is a problem, the name may be right.
  throw new CommandFailure(`there is no command "${name}"; ${hint}`, undefined, all.problems.length === 0 ? 2 : 1)
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

/** Adds the commands of plugins, if there is an application. */
async function addPluginCommands({ found, problems }: FoundCommands): Promise<void> {
  if (findEntry() === undefined) return
  const application = await loadApplication().catch((error: unknown) => {
    problems.push(new CommandFailure(`the commands of the plugins are not known: ${asFailure(error).message}`))
  })
  const known = new Set<string>()
  for (const { definition } of application?.server.listing.plugins ?? []) {
    const from = `the plugin ${definition.name}`
    const commands = async () => (await definition.commands?.()) ?? []
    await takeEach(problems, commands, (command) => {
      checkCommand(command, `${from}: a command`)
      // A plugin that is registered in several scopes has its commands once.
      if (known.size < known.add(`${from} ${command.name}`).size) found.push({ command, from, isOfPlugin: true })
    })
  }
}

/** Imports the files of the application's commands in this folder. */
async function addUserCommands({ found, problems }: FoundCommands): Promise<void> {
  const folders = commandFolders()
  if (folders.length === 0) return
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,mts,js,mjs}`)
  const { files } = await findFiles([...patterns, '!**/*.{test,spec}.*'], process.cwd())
  const seen = new Set<unknown>()
  for (const file of files) {
    const from = relative(process.cwd(), file)
    const values = () => importQuietly(file, from, {}, async (names) => Object.values(names))
    await takeEach(problems, values, (value) => {
      // A command that is exported again by another file counts only once.
      const command = seen.size === seen.add(value).size ? undefined : commandOf(value, from)
      if (command !== undefined) found.push({ command, from, isOfPlugin: false })
    })
  }
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
    throw new CommandFailure(`${from}: ${value.name} has a run method but does not extend Command`)
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
  return orFail(
    () => new cls(),
    (why) => new CommandFailure(`${from}: ${cls.name} cannot be made: ${why}`),
  )
}

const asFailure = (error: unknown) =>
  error instanceof CommandFailure ? error : new CommandFailure(messageOf(error), error)
