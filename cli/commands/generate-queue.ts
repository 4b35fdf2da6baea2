import { cancelled, oneOf } from '../prompts/ask.ts'
import { ownCommand } from '../run/own-command.ts'
import { queue, queueKinds } from '../scaffold/kinds/queue.ts'
import { namesOf } from '../scaffold/names.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

export const generateQueue = ownCommand({
  details: `Writes src/queues/<name>.ts: a queue with a schema that validates and types its messages, and a subscriber; and a test of
both on a queue in memory.`,
  arguments: [{ name: 'name', description: 'The messages of the queue: orders, emails', required: true }],
  flags: {
    type: {
      type: 'string',
      short: 't',
      value: queueKinds.join('|'),
      description: 'The engine of the queue',
      default: 'memory',
    },
    ...generateFlags,
  },
  async run(input) {
    const names = namesOf(input.arguments.name, 'queue')
    const kind = await oneOf('--type', input.flags.type, queueKinds)
    if (kind === undefined) return cancelled(input.note)
    scaffold(input, 'queues', (place) => queue(place, names, kind))
    return 0
  },
})
