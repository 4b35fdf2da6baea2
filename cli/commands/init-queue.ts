import { ownCommand } from '../run/own-command.ts'
import { importPath, inFolder } from '../scaffold/place.ts'
import { queueKinds, queues } from '../scaffold/queue-kinds.ts'
import { generateFlags, isKind, scaffoldOneOf } from '../scaffold/scaffold.ts'
import { moduleAndTest } from '../scaffold/source.ts'
import { fromTemplate } from '../scaffold/template.ts'

export const initQueue = ownCommand({
  details: `Writes src/queues/config.ts: the connection, from .env or the environment, and a handler of failed attempts. Without --type
the command asks for it.`,
  flags: {
    type: { type: 'string', short: 't', value: queueKinds.join('|'), description: 'The engine of the queues' },
    ...generateFlags,
  },
  run: (input) =>
    scaffoldOneOf(input, queueKinds, 'queues', (place, kind) => ({
      files: moduleAndTest(place, 'config', 'queue-config', {
        ...isKind(kind, queueKinds),
        kind,
        aws: fromTemplate('aws.ts').trimEnd(),
      }),
      ...queues[kind],
      next: [
        `In ${place.server}; with run: true the subscribers of this process get messages once it listens:`,
        `  import { queueConfig } from '${importPath(place, inFolder(place, 'config.ts'))}'`,
        `  new Server({ plugins: { queues: { config: queueConfig, run: true } } })`,
      ],
    })),
})
