import { CreateQueueCommand, GetQueueAttributesCommand, type QueueAttributeName, SQSClient } from '@aws-sdk/client-sqs'
import { sqsQueue } from 'framework'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { sqsCredentials, startSqs } from '../../support/sqs.ts'

describe('SQS', () => {
  let sqs: OwnServer
  let client: SQSClient

  async function create(name: string, attributes: Partial<Record<QueueAttributeName, string>> = {}): Promise<string> {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }))
    const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
    return (await client.send(asked)).Attributes!.QueueArn!
  }

  const region = 'us-east-1'
  beforeAll(async () => {
    sqs = await startSqs()
    client = new SQSClient({ region, endpoint: sqs.url, credentials: sqsCredentials, useQueueUrlAsEndpoint: false })
  })
  afterAll(async () => {
    client.destroy()
    await sqs.stop()
  })
  const make = () => ({ sqs: { region, endpoint: sqs.url, credentials: sqsCredentials, waitTimeSeconds: 1 } })
  testQueueEngine(make, {
    ...{ test, kind: 'sqs', once: false, priority: false, isOrdered: false, shortest: 0 },
    queue: (name, options) => sqsQueue<unknown>(name, options),
    async prepare(name, attempts) {
      const deadLetterTargetArn = await create(`${name}-dead`)
      await create(name, { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: attempts }) })
    },
    attempts: () => ({}),
    delay: (ms) => ({ DelaySeconds: Math.ceil(ms / 1000) }),
  })
})
