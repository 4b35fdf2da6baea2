import { commandFolders, findEntry } from '../application/load.ts'
import { type CommandGroup, examples, printCommands } from '../help.ts'
import { widthOf } from '../output.ts'
import { programName } from '../package.ts'
import { ownCommands, ownGroups } from '../registry.ts'
import { onOff, ownCommand } from '../run/own-command.ts'

export const list = ownCommand({
  details: `Includes the commands in src/commands or commands, and those that plugins add: to find these, it imports the application.
It reports a file that it cannot load, and the exit code stays 0.`,
  flags: { json: onOff('Prints JSON: the name, description and source of each command') },
  async run({ flags, print, note }) {
    const isApplication = findEntry() !== undefined || commandFolders().length > 0
    // Loaded here, with most of the framework: outside of an application, nothing is to be found.
    const { found, problems } = isApplication
      ? await (await import('../user-commands/find.ts')).applicationCommands()
      : { found: [], problems: [] }
    const listed = (ofPlugins: boolean) =>
      found
        .filter(({ isOfPlugin }) => isOfPlugin === ofPlugins)
        .map(({ command: { name, description }, from }) => ({ name, description, from }))
    for (const { message } of problems) note(message)
    if (flags.json) {
      const builtIn = ownCommands.map(({ name, description }) => ({ name, description, from: programName }))
      return print(JSON.stringify([...builtIn, ...listed(false), ...listed(true)], undefined, 2))
    }
    const groups: CommandGroup[] = [
      ...ownGroups,
      { heading: 'Of this application', commands: listed(false) },
      { heading: 'Of its plugins', commands: listed(true) },
    ]
    printCommands({ print, bold: (text) => text, width: widthOf(process.stdout) }, groups, examples)
  },
})
