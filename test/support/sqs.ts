import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { CreateQueueCommand, GetQueueAttributesCommand, type QueueAttributeName, SQSClient } from '@aws-sdk/client-sqs'
import { freePort, listens, type OwnServer, startOwnServer } from './own-server.ts'

/**
 * Starts an emulator of SQS; resolves when it answers. `stop` it in `afterAll`. It keeps everything in memory: after a restart
 * its queues are lost.
 *
 * @example
 * const sqs = await startSqs()
 * await createSqsQueue(sqsClient(sqs.url), 'orders')
 */
export async function startSqs(): Promise<OwnServer> {
  const port = await freePort()
  const entry = join(import.meta.dirname, '../../node_modules/fauxqs/dist/app.js')
  // Its own start function would listen on every address of the machine.
  const script = `import { buildApp } from ${JSON.stringify(entry)}
    await buildApp({ logger: false }).listen({ port: ${port}, host: '127.0.0.1' })`
  return startOwnServer({
    name: 'fauxqs',
    port,
    url: `http://127.0.0.1:${port}`,
    endsWith: 'SIGTERM',
    start: () => spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' }),
    answers: () => listens(port),
    removeData: () => {},
  })
}

/** The emulator accepts any; the client requires some. */
export const sqsCredentials = { accessKeyId: 'test', secretAccessKey: 'test' }

/** Where it is, for a client or for the configuration of queues. */
export const sqsSettings = (endpoint: string) => ({ region: 'us-east-1', endpoint, credentials: sqsCredentials })

/** A client for it; `destroy` it. */
export const sqsClient = (url: string) => new SQSClient({ ...sqsSettings(url), useQueueUrlAsEndpoint: false })

/** Makes a queue and returns its ARN. */
export async function createSqsQueue(
  client: SQSClient,
  name: string,
  attributes: Partial<Record<QueueAttributeName, string>> = {},
): Promise<string> {
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }))
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
  return (await client.send(asked)).Attributes!.QueueArn!
}
