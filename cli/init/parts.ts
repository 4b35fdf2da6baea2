import { packageName } from '../package.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import type { InitSettings, Part } from './settings.ts'
import { testModuleOf } from './sources.ts'

/** The folders of the optional parts, each with a working example and its test. */
export function partSources(settings: InitSettings): ScaffoldFile[] {
  const from = testModuleOf(settings)
  return [...settings.parts].flatMap((part) => folders[part](from))
}

const folders: Readonly<Record<Part, (from: string) => ScaffoldFile[]>> = {
  mqtt: (from) => [
    { path: 'src/mqtt/temperatures.ts', text: temperatures },
    { path: 'src/mqtt/temperatures.test.ts', text: temperaturesTest(from) },
  ],
  cron: (from) => [
    { path: 'src/crons/heartbeat.ts', text: heartbeat },
    { path: 'src/crons/heartbeat.test.ts', text: heartbeatTest(from) },
  ],
  graphql: (from) => [
    { path: 'src/graphql/schema.ts', text: schema },
    { path: 'src/graphql/schema.test.ts', text: schemaTest(from) },
  ],
}

const temperatures = `import { mqtt } from '${packageName}'

declare module '${packageName}' {
  /** The type of the messages of a topic, for publishers and subscribers. */
  interface MqttTopics {
    'sensors/+/temperature': { celsius: number }
  }
}

/** The latest temperature of each sensor. */
export const temperatures = new Map<string, number>()

mqtt.subscribe('sensors/+/temperature', (topic, { celsius }) => {
  const [, sensor = ''] = topic.split('/')
  temperatures.set(sensor, celsius)
})
`

const temperaturesTest = (from: string) => `import { MqttService, mqtt } from '${packageName}'
import { test } from '${from}'
import { server } from '../server.ts'

test('shows the latest temperature of each sensor', async () => {
  await MqttService.connect({ provider: 'memory' })
  await mqtt.publish('sensors/attic/temperature', { celsius: 20 })
  await mqtt.publish('sensors/attic/temperature', { celsius: 21 })
  await MqttService.disconnect()

  const res = await server.inject.get('/temperatures')
  res.assertStatus(200).assertBodyDeepEqual({ attic: 21 })
})
`

const heartbeat = `import { cron } from '${packageName}'

/** How often the job has run in this process. */
export const beats = { count: 0 }

// Minute, hour, day of the month, month, day of the week.
await cron('* * * * *', { name: 'heartbeat' }).start(({ scheduledAt, logger }) => {
  beats.count++
  logger.debug({ scheduledAt }, 'alive')
})
`

const heartbeatTest = (from: string) => `import assert from 'node:assert/strict'
import { CronService, memoryClock } from '${packageName}'
import { test } from '${from}'
import { beats } from './heartbeat.ts'

test('beats once a minute', async () => {
  const clock = memoryClock('2026-01-01T12:00:00Z')
  const service = await CronService.run({ crons: [], clock })
  await clock.advanceTo('2026-01-01T12:03:00Z')
  await service.stop()

  assert.equal(beats.count, 3)
})
`

const schema = `/** What can be asked at /graphql, and what answers it. A browser gets a page there to try it. */
export const schema = {
  typeDefs: \`
    type Query {
      "Greets someone."
      hello(name: String! = "world"): String!
    }
  \`,
  resolvers: {
    Query: {
      hello: (_parent: unknown, { name }: { name: string }) => \`Hello, \${name}!\`,
    },
  },
}
`

const schemaTest = (from: string) => `import { test } from '${from}'
import { server } from '../server.ts'

test('greets over GraphQL', async () => {
  const res = await server.inject.post('/graphql', { body: { query: '{ hello(name: "Ada") }' } })
  res.assertStatus(200).assertBodyDeepEqual({ data: { hello: 'Hello, Ada!' } })
})
`
