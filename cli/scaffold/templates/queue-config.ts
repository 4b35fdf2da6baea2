import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { awsVariables, type QueueKind, queuePackages } from './queue.ts'

/** Where the queues of an application are. */
export function queueConfig(place: Place, kind: QueueKind): Scaffold {
  const file = inFolder(place, 'config.ts')
  return {
    files: [{ path: file, text: source(kind) }],
    packages: queuePackages[kind],
    next: [
      `In ${place.server}; with run: true the subscribers of this process get messages once it listens:`,
      `  import { queueConfig } from '${importPath(place, file)}'`,
      `  new Server({ background: { queues: { config: queueConfig, run: true } } })`,
    ],
    ...(environment[kind] && { environment: environment[kind] }),
  }
}

const environment: Readonly<Partial<Record<QueueKind, Scaffold['environment']>>> = {
  bullmq: {
    about: 'In the environment, without it redis://127.0.0.1:6379:',
    variables: ['REDIS_URL=redis://user:password@host:6379'],
  },
  pgboss: {
    about: 'In the environment, without it postgres://127.0.0.1:5432/postgres:',
    variables: ['DATABASE_URL=postgres://user:password@host:5432/database'],
  },
  sqs: {
    about: 'In the environment, as for every AWS client; the endpoint only where it is not AWS:',
    variables: [...awsVariables, 'SQS_ENDPOINT=http://127.0.0.1:9324'],
  },
}

const settings: Readonly<Record<QueueKind, string>> = {
  bullmq: `    // Without REDIS_URL it is the one on this machine.
    ...(process.env.REDIS_URL && { connection: process.env.REDIS_URL }),
`,
  pgboss: `    // Without DATABASE_URL it is the one on this machine.
    ...(process.env.DATABASE_URL && { connectionString: process.env.DATABASE_URL }),
    max: 10,
`,
  sqs: `    // Region and credentials are those of the environment, as for every AWS client.
    ...(process.env.SQS_ENDPOINT && { endpoint: process.env.SQS_ENDPOINT }),
    visibilityTimeout: 30,
`,
  memory: `    // Messages that one queue holds before \`publish\` rejects.
    maxSize: 10_000,
`,
}

const source = (kind: QueueKind) => `import { logger, type QueueConfig, type QueueErrorHandler } from 'framework'

/** Told of every failed attempt; after a final one the message is parked by the engine. */
const errorHandler: QueueErrorHandler = (error, { queue, id, attempt, final }) => {
  logger[final ? 'error' : 'warn']({ err: error, queue, id, attempt }, final ? 'given up' : 'failed, is tried again')
}

/** Where the queues of this application are. */
export const queueConfig = {
  ${kind}: {
${settings[kind]}    errorHandler,
  },
} satisfies QueueConfig
`
