import { packageName } from '../package.ts'
import { runtimeOf } from '../project/project.ts'
import { envModule } from '../scaffold/environment/schema-text.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { testModule } from '../scaffold/test-runner.ts'
import { packagesFor } from './manifest.ts'
import type { InitSettings } from './settings.ts'

/** The modules that every project has. */
export function sources(settings: InitSettings): ScaffoldFile[] {
  return [
    { path: 'src/index.ts', text: index },
    { path: 'src/server.ts', text: server(settings) },
    { path: 'src/server.test.ts', text: serverTest(testModuleOf(settings)) },
    { path: 'src/logger.ts', text: logger },
    { path: 'src/env.ts', text: env(settings) },
  ]
}

/** The module from which a test of the project imports `test`. */
export function testModuleOf(settings: InitSettings): string {
  const { devDependencies } = packagesFor(settings)
  return testModule({
    dependencies: new Set(Object.keys(devDependencies)),
    runtime: runtimeOf(settings.packageManager),
  })
}

// A package comes before a path: formatters that sort imports leave it first, and keep its lines apart in any case.
const index = `import '${packageName}/env'
import { server } from './server.ts'

await server.listen(() => {
  // In development the command \`serve\` prints it.
  if (process.env.NODE_ENV !== 'development') console.log(\`Listening on \${server.url}\`)
})
`

/** Joins lines, without those that a project does not have. */
const lines = (...all: readonly (string | false)[]) => `${all.filter((line) => line !== false).join('\n')}\n`

function server({ parts }: InitSettings): string {
  const [mqtt, cron, graphql] = [parts.has('mqtt'), parts.has('cron'), parts.has('graphql')]
  return lines(
    `import { router, Server } from '${packageName}'`,
    `import { env } from './env.ts'`,
    graphql && `import { schema } from './graphql/schema.ts'`,
    `import { logOptions } from './logger.ts'`,
    mqtt && `import { temperatures } from './mqtt/temperatures.ts'`,
    ``,
    `router.get('/', () => ({ hello: 'world' }))`,
    ``,
    `const Greeting = {`,
    `  type: 'object',`,
    `  properties: { name: { type: 'string', minLength: 1, maxLength: 100 } },`,
    `  required: ['name'],`,
    `} as const`,
    ``,
    `// A body that does not match the schema is answered with 422. The schema gives \`req.body\` its type.`,
    `router.post('/greetings', { body: Greeting }, (req, res) => res.created({ greeting: \`Hello, \${req.body.name}!\` }))`,
    mqtt && ``,
    mqtt && `router.get('/temperatures', () => Object.fromEntries(temperatures))`,
    mqtt && ``,
    mqtt && `// Without MQTT_URL the broker is one within this process.`,
    mqtt && `const url = env.get('MQTT_URL')`,
    ``,
    `// It does not listen here, so that tests and tools can import it: src/index.ts does.`,
    `export const server = new Server({`,
    `  port: env.get('PORT'),`,
    `  // In development a failure shows where it happened; with NODE_ENV=production it never does.`,
    `  exposeErrorDetails: 'auto',`,
    `  plugins: {`,
    `    log: logOptions,`,
    `    helmet: true,`,
    `    health: true,`,
    graphql && `    graphql: { schema },`,
    cron && `    // The jobs are the files of src/crons.`,
    cron && `    cron: true,`,
    mqtt && `    mqtt: { connect: url === undefined ? { provider: 'memory' } : { url } },`,
    `  },`,
    `})`,
  )
}

const serverTest = (from: string) => `import { test } from '${from}'
import { server } from './server.ts'

test('says hello', async () => {
  const res = await server.inject.get('/')
  res.assertStatus(200).assertBodyDeepEqual({ hello: 'world' })
})

test('greets by name', async () => {
  const res = await server.inject.post('/greetings', { body: { name: 'Ada' } })
  res.assertStatus(201).assertBodyDeepEqual({ greeting: 'Hello, Ada!' })
})

test('greets no one without a name', async () => {
  const res = await server.inject.post('/greetings', { body: {} })
  res.assertStatus(422)
})
`

const logger = `import type { LogOptions } from '${packageName}/plugins/log'
import { env } from './env.ts'

/** The options of the log. A handler logs with \`req.log\`, which adds the id of the request: \`req.log.info({ user }, 'signed in')\`. */
export const logOptions: LogOptions = {
  level: env.get('LOG_LEVEL'),
  // Paths of values that are not written. Passwords, tokens, secrets, cookies and authorization never are.
  redact: [],
}
`

const env = ({ parts }: InitSettings) =>
  envModule([
    `PORT: schema.number({ default: 3000 }),`,
    `LOG_LEVEL: schema.enum(['debug', 'info', 'warn', 'error', 'silent'] as const, { default: 'info' }),`,
    ...(parts.has('mqtt') ? [`MQTT_URL: schema.string({ optional: true }),`] : []),
  ])
