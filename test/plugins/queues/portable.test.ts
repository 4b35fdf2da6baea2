import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { lackedBySqs, ownEngine } from '../../contracts/portable/index.mjs'
import { testPortableQueue } from '../../contracts/portable-queue.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { sqsCredentials, startSqs } from '../../support/sqs.ts'

describe('memory', () => testPortableQueue(() => ({}), { test, kind: 'memory', isShared: false }))

describe('an engine of the application', () => {
  const engine = ownEngine()
  testPortableQueue(() => engine, { test })
})

describe.skipIf(!hasRedis)('BullMQ', () => {
  let redis: OwnServer
  beforeAll(async () => {
    redis = await startRedis('--maxmemory-policy', 'noeviction')
  })
  afterAll(() => redis.stop())
  testPortableQueue(() => ({ bullmq: { connection: redis.url } }), { test, kind: 'bullmq' })
})

describe.skipIf(!hasPostgres)('pg-boss 12', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  testPortableQueue(() => ({ pgboss: { connectionString: postgres.url, pollInterval: 100 } }), { test, kind: 'pgboss' })
})

describe('SQS', () => {
  let sqs: OwnServer
  let client: SQSClient
  const region = 'us-east-1'
  beforeAll(async () => {
    sqs = await startSqs()
    client = new SQSClient({ region, endpoint: sqs.url, credentials: sqsCredentials, useQueueUrlAsEndpoint: false })
  })
  afterAll(async () => {
    client.destroy()
    await sqs.stop()
  })
  async function create(name: string, attributes: Record<string, string> = {}): Promise<string> {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }))
    const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
    return (await client.send(asked)).Attributes!.QueueArn!
  }
  const make = () => ({ sqs: { region, endpoint: sqs.url, credentials: sqsCredentials, waitTimeSeconds: 1 } })
  testPortableQueue(make, {
    ...{ test, kind: 'sqs', lacks: lackedBySqs, step: 1000 },
    async prepare(name, attempts) {
      const deadLetterTargetArn = await create(`${name}-dead`)
      await create(name, { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: attempts }) })
    },
  })
})
