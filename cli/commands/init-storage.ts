import { cancelled, oneOf } from '../prompts/ask.ts'
import { ownCommand } from '../run/own-command.ts'
import { storage, storageKinds } from '../scaffold/kinds/storage.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

export const initStorage = ownCommand({
  details: `Writes src/storage.ts: the provider of the storage, from .env or the environment, and a test. Without --type the command asks for it.`,
  flags: {
    type: { type: 'string', short: 't', value: storageKinds.join('|'), description: 'The provider of the storage' },
    ...generateFlags,
  },
  async run(input) {
    const kind = await oneOf('--type', input.flags.type, storageKinds)
    if (kind === undefined) return cancelled(input.note)
    scaffold(input, '', (place) => storage(place, kind))
    return 0
  },
})
