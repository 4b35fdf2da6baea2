import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { sqsCredentials, startSqs } from '../support/sqs.ts'
import { commandOf, targets } from './targets.ts'

const run = promisify(execFile)

describe.skipIf(!hasRedis || !hasPostgres)('queues of every kind, against real servers', () => {
  let servers: OwnServer[]
  let client: SQSClient
  beforeAll(async () => {
    servers = await Promise.all([startRedis(), startPostgres(), startSqs()])
    const endpoint = servers[2]!.url
    client = new SQSClient({ region: 'us-east-1', endpoint, credentials: sqsCredentials, useQueueUrlAsEndpoint: false })
  }, 60_000)
  afterAll(async () => {
    client.destroy()
    await Promise.all(servers.map((server) => server.stop()))
  }, 30_000)

  // Which server answers requests does not matter here.
  test.each(targets.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const))(
    'on %s',
    async (name, target) => {
      await client.send(new CreateQueueCommand({ QueueName: `conformance-${name}` }))
      const [command, ...args] = commandOf(target)
      const script = join(import.meta.dirname, 'queues.mjs')
      const options = { cwd: join(import.meta.dirname, '../..'), env: { ...process.env, NODE_OPTIONS: '' } }
      const urls = servers.map(({ url }) => url)
      const { stdout } = await run(command!, [...args, script, name, ...urls], options)
      const expected = {
        attempts: [1, 2],
        payloads: [{ ü: '🎈', deep: [{ a: null }] }, { n: 2 }, { n: 3 }],
        ids: true,
        errors: ['QueuePayloadError'],
        left: { waiting: 1, delayed: 0, failed: 0 },
      }
      expect(JSON.parse(stdout)).toEqual({ memory: expected, bullmq: expected, pgboss: expected, sqs: expected })
    },
    60_000,
  )
})
