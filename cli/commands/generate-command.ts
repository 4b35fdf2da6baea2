import { wrongUsage } from '../failure.ts'
import { programName } from '../package.ts'
import { commandLineOf } from '../project/project.ts'
import { ownCommands } from '../registry.ts'
import { ownCommand } from '../run/own-command.ts'
import { namesOf } from '../scaffold/names.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'
import { moduleAndTest } from '../scaffold/source.ts'

export const generateCommand = ownCommand({
  details: `Writes src/commands/<name>.ts, a command that "${programName} <name>" runs, and a test.`,
  arguments: [{ name: 'name', description: 'The name of the command: send-report', required: true }],
  flags: generateFlags,
  run(input) {
    const { kebab, pascal } = namesOf(input.arguments.name, 'command')
    if (ownCommands.some(({ name }) => name === kebab)) {
      throw wrongUsage(`"${kebab}" is a command of the framework: choose another name`)
    }
    scaffold(input, 'commands', (place) => {
      const line = commandLineOf(place.project.packageManager)
      return {
        files: moduleAndTest(place, kebab, 'command', { kebab, className: `${pascal}Command` }),
        next: [`Try it: ${line} ${kebab} world --loud; "${line} list" shows it.`],
      }
    })
  },
})
