import { programName } from '../package.ts'
import { ownCommand } from '../run/own-command.ts'
import { type Names, namesOf } from '../scaffold/names.ts'
import { importPath, inFolder, type Place } from '../scaffold/place.ts'
import { type QueueKind, queueKinds, queuePackages } from '../scaffold/queue-kinds.ts'
import { generateFlags, type Scaffold, scaffoldOneOf } from '../scaffold/scaffold.ts'
import { identifier, moduleAndTest } from '../scaffold/source.ts'

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
    return scaffoldOneOf(input, queueKinds, 'queues', (place, kind) => queue(place, names, kind))
  },
})

/** A queue with a subscriber. */
function queue(place: Place, { kebab, camel }: Names, kind: QueueKind): Scaffold {
  const file = inFolder(place, `${kebab}.ts`)
  const name = identifier(camel, 'Queue')
  return {
    files: moduleAndTest(place, kebab, 'queue', { kebab, name, factory: `${kind}Queue` }),
    packages: queuePackages[kind],
    next: [
      `In ${place.server}, which has the subscribers of every file that is imported:`,
      `  import '${importPath(place, file)}'`,
      kind === 'memory'
        ? `  new Server({ plugins: { queues: { run: true } } })`
        : `  new Server({ plugins: { queues: { config: { ${kind}: { … } }, run: true } } })`,
      ...(kind === 'memory' ? [] : [`"${programName} init-queue -t ${kind}" writes the configuration.`]),
      `To publish a message, import ${name} from there: await ${name}.publish({ id: '1' })`,
    ],
  }
}
