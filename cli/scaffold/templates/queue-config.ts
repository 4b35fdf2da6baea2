import { packageName } from '../../package.ts'
import { awsSource, awsVariables, optional, requiredSecret, type Variable } from '../environment/variables.ts'
import { envImport, importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports, named } from '../source.ts'
import { type QueueKind, queuePackages } from './queue.ts'

/** The configuration of an application's queues. */
export function queueConfig(place: Place, kind: QueueKind): Scaffold {
  const file = inFolder(place, 'config.ts')
  return {
    files: [
      { path: file, text: source(kind, envImport(place, file)) },
      { path: file.replace(/\.ts$/, '.test.ts'), text: test(place.testModule, kind) },
    ],
    packages: queuePackages[kind],
    next: [
      `In ${place.server}; with run: true the subscribers of this process get messages once it listens:`,
      `  import { queueConfig } from '${importPath(place, file)}'`,
      `  new Server({ plugins: { queues: { config: queueConfig, run: true } } })`,
    ],
    variables: connections[kind].variables ?? [],
  }
}

/** The variables of a kind, its settings, and the declarations in between. */
interface Connection {
  readonly variables?: readonly Variable[]
  readonly declared?: string
  readonly settings: string
}

const connections: Readonly<Record<QueueKind, Connection>> = {
  bullmq: {
    variables: [requiredSecret('REDIS_URL', 'redis://127.0.0.1:6379')],
    settings: `    connection: env.get('REDIS_URL'),
`,
  },
  pgboss: {
    variables: [requiredSecret('DATABASE_URL', 'postgres://127.0.0.1:5432/postgres')],
    settings: `    connectionString: env.get('DATABASE_URL'),
    max: 10,
`,
  },
  sqs: {
    // Only if the service is not AWS.
    variables: [optional('SQS_ENDPOINT', 'http://127.0.0.1:9324'), ...awsVariables],
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

function source(kind: QueueKind, env: ReturnType<typeof envImport>): string {
  const { variables, declared, settings } = connections[kind]
  const own = [packageName, named('logger', 'type QueueConfig', 'type QueueErrorHandler')] as const
  return `${imports(own, ...(variables === undefined ? [] : [env]))}

${declared === undefined ? '' : `${declared}\n\n`}/** Called for every failed attempt; after the final one the engine parks the message. */
const errorHandler: QueueErrorHandler = (error, { queue, id, attempt, final }) => {
  logger[final ? 'error' : 'warn']({ err: error, queue, id, attempt }, final ? 'given up' : 'failed, is retried')
}

/** The engines of this application's queues. */
export const queueConfig = {
  ${kind}: {
${settings}    errorHandler,
  },
} satisfies QueueConfig
`
}

const test = (module: string, kind: QueueKind) => `${imports(
  ['node:assert/strict', 'assert'],
  [module, '{ test }'],
  [packageName, '{ Server }'],
  ['./config.ts', '{ queueConfig }'],
)}

test('a server takes the configuration of the queues', async () => {
  const server = new Server({ plugins: { queues: { config: queueConfig } } })
  assert.deepEqual(Object.keys(queueConfig), ['${kind}'])
  await server.close()
})
`
