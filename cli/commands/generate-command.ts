import { wrongUsage } from '../failure.ts'
import { programName } from '../package.ts'
import { ownCommands } from '../registry.ts'
import { ownCommand } from '../run/own-command.ts'
import { command } from '../scaffold/kinds/command.ts'
import { namesOf } from '../scaffold/names.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

export const generateCommand = ownCommand({
  details: `Writes src/commands/<name>.ts, a command that "${programName} <name>" runs, and a test.`,
  arguments: [{ name: 'name', description: 'The name of the command: send-report', required: true }],
  flags: generateFlags,
  run(input) {
    const names = namesOf(input.arguments.name, 'command')
    if (ownCommands.some(({ name }) => name === names.kebab)) {
      throw wrongUsage(`"${names.kebab}" is a command of the framework: choose another name`)
    }
    scaffold(input, 'commands', (place) => command(place, names))
  },
})
