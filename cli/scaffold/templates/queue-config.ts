import { packageName } from '../../package.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports, named } from '../source.ts'
import { awsSource, awsTypes, awsVariables, environment, optional, secret } from './environment.ts'
import { type QueueKind, queuePackages } from './queue.ts'

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
    ...(told[kind] && { environment: told[kind] }),
  }
}

const told: Readonly<Partial<Record<QueueKind, Scaffold['environment']>>> = {
  bullmq: {
    about: 'In .env or the environment, without it redis://127.0.0.1:6379:',
    variables: ['REDIS_URL=redis://user:password@host:6379'],
  },
  pgboss: {
    about: 'In .env or the environment, without it postgres://127.0.0.1:5432/postgres:',
    variables: ['DATABASE_URL=postgres://user:password@host:5432/database'],
  },
  sqs: {
    about: 'In .env or the environment, or as for every AWS client; the endpoint only where it is not AWS:',
    variables: [...awsVariables, 'SQS_ENDPOINT=http://127.0.0.1:9324'],
  },
}

/** What a kind reads, what that becomes, and the declarations in between. */
interface Connection {
  readonly variables?: Readonly<Record<string, string>>
  readonly declared?: string
  readonly settings: string
}

const connections: Readonly<Record<QueueKind, Connection>> = {
  bullmq: {
    variables: { REDIS_URL: secret },
    declared: `const connection = env.get('REDIS_URL')`,
    settings: `    // Without REDIS_URL it is the one on this machine.
    ...(connection && { connection }),
`,
  },
  pgboss: {
    variables: { DATABASE_URL: secret },
    declared: `const connectionString = env.get('DATABASE_URL')`,
    settings: `    // Without DATABASE_URL it is the one on this machine.
    ...(connectionString && { connectionString }),
    max: 10,
`,
  },
  sqs: {
    variables: { SQS_ENDPOINT: optional, ...awsTypes },
    declared: `const endpoint = env.get('SQS_ENDPOINT')

${awsSource}`,
    settings: `    ...aws(),
    ...(endpoint && { endpoint }),
    visibilityTimeout: 30,
`,
  },
  memory: {
    settings: `    // Messages that one queue holds before \`publish\` rejects.
    maxSize: 10_000,
`,
  },
}

function source(kind: QueueKind): string {
  const { variables, declared, settings } = connections[kind]
  const names = ['logger', 'type QueueConfig', 'type QueueErrorHandler']
  const read = variables === undefined ? '' : `${environment(variables)}\n${declared}\n\n`
  return `${imports([packageName, named(...(variables === undefined ? [] : ['createEnvSchema']), ...names)])}

${read}/** Told of every failed attempt; after a final one the message is parked by the engine. */
const errorHandler: QueueErrorHandler = (error, { queue, id, attempt, final }) => {
  logger[final ? 'error' : 'warn']({ err: error, queue, id, attempt }, final ? 'given up' : 'failed, is tried again')
}

/** Where the queues of this application are. */
export const queueConfig = {
  ${kind}: {
${settings}    errorHandler,
  },
} satisfies QueueConfig
`
}
