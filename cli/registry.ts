import type { Command } from '../kernel/index.ts'
import { CommandFailure } from './failure.ts'

/** A command of the framework itself: enough to list it, the rest when it is run. */
export interface OwnCommand {
  readonly name: string
  readonly description: string
  load(): Promise<Pick<Command, 'arguments' | 'flags' | 'details' | 'run'>>
}

/** In the order of the list. */
export const ownCommands: readonly OwnCommand[] = [
  {
    name: 'list',
    description: 'Lists the commands',
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'generate-sdk',
    description: 'Writes a typed client of the routes',
    load: async () => (await import('./commands/generate-sdk.ts')).generateSdk,
  },
]

/** The commands that the plugins of an application contribute. A name of the framework's own is not theirs to take. */
export async function commandsOf(server: {
  readonly listing: {
    readonly plugins: readonly { readonly definition: { commands?(): Promise<readonly Command[]>; name: string } }[]
  }
}): Promise<Command[]> {
  const found = new Map<string, { command: Command; plugin: string }>()
  for (const { definition } of server.listing.plugins) {
    for (const command of (await definition.commands?.()) ?? []) {
      const other = ownCommands.some(({ name }) => name === command.name)
        ? 'the framework'
        : found.get(command.name)?.plugin
      if (other !== undefined && other !== definition.name) {
        throw new CommandFailure(
          `the command "${command.name}" of the plugin ${definition.name} is one of ${other} already: rename it`,
        )
      }
      found.set(command.name, { command, plugin: definition.name })
    }
  }
  return [...found.values()].map(({ command }) => command)
}
