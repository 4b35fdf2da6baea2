import type { SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { createSqsQueue, sqsClient, startSqs } from '../support/sqs.ts'
import { resultOf, runtimeKinds } from './targets.ts'

describe.skipIf(!hasRedis || !hasPostgres)('queues of every kind, against real servers', () => {
  let servers: OwnServer[]
  let client: SQSClient
  beforeAll(async () => {
    servers = await Promise.all([startRedis(), startPostgres(), startSqs()])
    client = sqsClient(servers[2]!.url)
  })
  afterAll(async () => {
    client.destroy()
    await Promise.all(servers.map((server) => server.stop()))
  })

  // Which server answers requests does not matter here.
  test.concurrent.each(
    runtimeKinds.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const),
  )('on %s', async (name, target) => {
    const suffix = `${name}${process.pid}`
    await createSqsQueue(client, `conformance-${suffix}`)
    const expected = {
      attempts: [1, 2],
      payloads: [{ ü: '🎈', deep: [{ a: null }] }, { n: 2 }, { n: 3 }],
      ids: true,
      errors: ['QueuePayloadError'],
      left: { waiting: 1, delayed: 0, failed: 0 },
    }
    const seen = await resultOf(target, 'queues.mjs', [suffix, ...servers.map(({ url }) => url)])
    expect(seen).toEqual({ memory: expected, bullmq: expected, pgboss: expected, sqs: expected })
  })
})
