import { programName } from '../package.ts'
import { ownCommand } from '../run/own-command.ts'
import { namesOf } from '../scaffold/names.ts'
import { importPath, inFolder } from '../scaffold/place.ts'
import { queueKinds, queues } from '../scaffold/queue-kinds.ts'
import { generateFlags, scaffoldOneOf } from '../scaffold/scaffold.ts'
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
    const { kebab, camel } = namesOf(input.arguments.name, 'queue')
    const name = identifier(camel, 'Queue')
    return scaffoldOneOf(input, queueKinds, 'queues', (place, kind) => ({
      files: moduleAndTest(place, kebab, 'queue', { kebab, name, factory: `${kind}Queue` }),
      packages: queues[kind].packages,
      next: [
        `In ${place.server}, which has the subscribers of every file that is imported:`,
        `  import '${importPath(place, inFolder(place, `${kebab}.ts`))}'`,
        ...(kind === 'memory'
          ? [`  new Server({ plugins: { queues: { run: true } } })`]
          : [
              `  new Server({ plugins: { queues: { config: { ${kind}: { … } }, run: true } } })`,
              `"${programName} init-queue -t ${kind}" writes the configuration.`,
            ]),
        `To publish a message, import ${name} from there: await ${name}.publish({ id: '1' })`,
      ],
    }))
  },
})
