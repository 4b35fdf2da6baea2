import type { Command } from '../../kernel/index.ts'
import { printCommands } from '../help.ts'

export const list: Pick<Command, 'flags' | 'run'> = {
  flags: {
    app: { type: 'boolean', description: 'Loads the application and lists the commands of its plugins too' },
  },
  async run({ flags, print, note }) {
    const output = { print, bold: (text: string) => text }
    if (flags.app !== true) return printCommands(output)
    const { applicationCommands } = await import('../application.ts')
    return printCommands(output, await applicationCommands(note))
  },
}
