import { cancelled, oneOf } from '../prompts/ask.ts'
import { ownCommand } from '../run/own-command.ts'
import { queueKinds } from '../scaffold/kinds/queue.ts'
import { queueConfig } from '../scaffold/kinds/queue-config.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

export const initQueue = ownCommand({
  details: `Writes src/queues/config.ts: the connection, from .env or the environment, and a handler of failed attempts. Without --type
the command asks for it.`,
  flags: {
    type: { type: 'string', short: 't', value: queueKinds.join('|'), description: 'The engine of the queues' },
    ...generateFlags,
  },
  async run(input) {
    const kind = await oneOf('--type', input.flags.type, queueKinds)
    if (kind === undefined) return cancelled(input.note)
    scaffold(input, 'queues', (place) => queueConfig(place, kind))
    return 0
  },
})
