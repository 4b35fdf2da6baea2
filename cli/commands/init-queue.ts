import { ownCommand } from '../run/own-command.ts'
import { awsVariables, optional, requiredSecret, type Variable } from '../scaffold/environment/variables.ts'
import { importPath, inFolder, type Place } from '../scaffold/place.ts'
import { type QueueKind, queueKinds, queuePackages } from '../scaffold/queue-kinds.ts'
import { generateFlags, type Scaffold, scaffoldOneOf } from '../scaffold/scaffold.ts'
import { moduleAndTest } from '../scaffold/source.ts'
import { fromTemplate } from '../scaffold/template.ts'

export const initQueue = ownCommand({
  details: `Writes src/queues/config.ts: the connection, from .env or the environment, and a handler of failed attempts. Without --type
the command asks for it.`,
  flags: {
    type: { type: 'string', short: 't', value: queueKinds.join('|'), description: 'The engine of the queues' },
    ...generateFlags,
  },
  run: (input) => scaffoldOneOf(input, queueKinds, 'queues', queueConfig),
})

/** The configuration of an application's queues. */
function queueConfig(place: Place, kind: QueueKind): Scaffold {
  const isKind = (one: QueueKind) => kind === one
  return {
    files: moduleAndTest(place, 'config', 'queue-config', {
      kind,
      bullmq: isKind('bullmq'),
      pgboss: isKind('pgboss'),
      sqs: isKind('sqs'),
      memory: isKind('memory'),
      aws: fromTemplate('aws.ts').trimEnd(),
    }),
    packages: queuePackages[kind],
    next: [
      `In ${place.server}; with run: true the subscribers of this process get messages once it listens:`,
      `  import { queueConfig } from '${importPath(place, inFolder(place, 'config.ts'))}'`,
      `  new Server({ plugins: { queues: { config: queueConfig, run: true } } })`,
    ],
    variables: variables[kind],
  }
}

const variables: Readonly<Record<QueueKind, readonly Variable[]>> = {
  bullmq: [requiredSecret('REDIS_URL', 'redis://127.0.0.1:6379')],
  pgboss: [requiredSecret('DATABASE_URL', 'postgres://127.0.0.1:5432/postgres')],
  // The endpoint is only for services other than AWS.
  sqs: [optional('SQS_ENDPOINT', 'http://127.0.0.1:9324'), ...awsVariables],
  memory: [],
}
