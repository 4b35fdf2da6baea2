import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { describe } from 'vitest'
import { lackedBySqs, ownEngine } from '../../contracts/portable/index.mjs'
import { testPortable } from '../../contracts/portable-queue.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { sqsCredentials, startSqs } from '../../support/sqs.ts'

const stop = async () => {}

describe('memory', () => {
  testPortable({ kind: 'memory', isShared: false, start: async () => ({}), stop })
})

describe('an engine of the application', () => {
  testPortable({ kind: 'own', start: async () => ({ own: ownEngine() }), stop })
})

describe.skipIf(!hasRedis)('BullMQ', () => {
  let redis: OwnServer
  testPortable({
    kind: 'bullmq',
    async start() {
      redis = await startRedis('--maxmemory-policy', 'noeviction')
      return { bullmq: { connection: redis.url } }
    },
    stop: () => redis.stop(),
  })
})

describe.skipIf(!hasPostgres)('pg-boss 12', () => {
  let postgres: OwnServer
  testPortable({
    kind: 'pgboss',
    async start() {
      postgres = await startPostgres()
      return { pgboss: { connectionString: postgres.url, pollInterval: 100 } }
    },
    stop: () => postgres.stop(),
  })
})

describe('SQS', () => {
  let sqs: OwnServer
  let client: SQSClient
  async function create(name: string, attributes: Record<string, string> = {}): Promise<string> {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }))
    const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
    return (await client.send(asked)).Attributes!.QueueArn!
  }
  testPortable({
    kind: 'sqs',
    lacks: lackedBySqs,
    step: 1000,
    async start() {
      sqs = await startSqs()
      const region = 'us-east-1'
      client = new SQSClient({ region, endpoint: sqs.url, credentials: sqsCredentials, useQueueUrlAsEndpoint: false })
      return { sqs: { region, endpoint: sqs.url, credentials: sqsCredentials, waitTimeSeconds: 1 } }
    },
    async stop() {
      client.destroy()
      await sqs.stop()
    },
    async prepare(name, attempts) {
      const deadLetterTargetArn = await create(`${name}-dead`)
      await create(name, { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: attempts }) })
    },
  })
})
