import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type QueueAttributeName,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { defineQueueConfiguration, QueueService, RouteCollection, Server, type SqsConfig, sqsQueue } from 'framework'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Entry, memoryLogger, pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { freshName, until } from '../../support/queues.ts'
import { sqsCredentials, startSqs } from '../../support/sqs.ts'

let server: OwnServer
let client: SQSClient
beforeAll(async () => {
  server = await startSqs()
  const region = 'us-east-1'
  client = new SQSClient({ region, endpoint: server.url, credentials: sqsCredentials, useQueueUrlAsEndpoint: false })
})
afterEach(() => QueueService.stop())
afterAll(async () => {
  client.destroy()
  await server.stop()
})

async function create(name: string, attributes: Partial<Record<QueueAttributeName, string>> = {}): Promise<string> {
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }))
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
  return (await client.send(asked)).Attributes!.QueueArn!
}

async function start(settings: SqsConfig = {}, given: object = client) {
  defineQueueConfiguration({ sqs: { client: given, waitTimeSeconds: 1, ...settings } })
  await QueueService.run()
  const name = freshName('faults')
  await create(name)
  return sqsQueue<unknown>(name)
}

/** The client, with one kind of command answered otherwise. */
function faulty(intercept: (command: object, send: () => Promise<unknown>) => Promise<unknown>): object {
  return {
    send: (command: never, options: never) => intercept(command, () => client.send(command, options)),
    destroy() {},
  }
}

test('a handler that takes longer than the visibility time-out keeps its message to itself', async () => {
  const queue = await start({ visibilityTimeout: 1 })
  const begun: number[] = []
  let done = 0
  const slow = async (_payload: unknown, { attempt }: { attempt: number }) => {
    begun.push(attempt)
    await pause(3500)
    done++
  }
  await queue.subscribe(slow, { concurrency: 2 })
  await queue.publish('slow')
  await until(() => done === 1, 'its end')
  await pause(1500)
  expect(begun).toEqual([1])
  expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0 })
})

test('a message that fails comes again with the next attempt, after retryDelay', async () => {
  const queue = await start({ retryDelay: 1 })
  const times: [attempt: number, at: number][] = []
  await queue.subscribe((_payload, { attempt, attempts }) => {
    expect(attempts).toBeUndefined()
    times.push([attempt, performance.now()])
    if (times.length < 2) throw new Error('not yet')
  })
  await queue.publish('x')
  await until(() => times.length === 2, 'the second attempt')
  expect(times.map(([attempt]) => attempt)).toEqual([1, 2])
  expect(times[1]![1] - times[0]![1]).toBeGreaterThan(900)
})

test('a delete that fails is retried: the message does not come twice', async () => {
  let failures = 0
  const flaky = faulty(async (command, send) => {
    if (command instanceof DeleteMessageBatchCommand && failures++ < 2) {
      if (failures === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      const { Entries = [] } = command.input
      return { Failed: Entries.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })), Successful: [] }
    }
    return send()
  })
  const queue = await start({ visibilityTimeout: 2 }, flaky)
  let ran = 0
  await queue.subscribe(() => void ran++, { concurrency: 5 })
  await queue.publishMany([1, 2, 3])
  await until(() => ran === 3, 'all')
  await pause(3000)
  expect(ran).toBe(3)
  expect(failures).toBeGreaterThan(2)
  expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0 })
})

test('a batch that SQS refuses in part rejects, and reports the published ones', async () => {
  const choosy = faulty(async (command, send) => {
    if (!(command instanceof SendMessageBatchCommand)) return send()
    const entries = command.input.Entries ?? []
    command.input.Entries = entries.filter(({ MessageBody }) => MessageBody !== '2')
    const answer = (await send()) as { Failed?: object[] }
    const Failed = entries
      .filter(({ MessageBody }) => MessageBody === '2')
      .map(({ Id }) => ({ Id, Code: 'KmsDisabled', Message: 'no key' }))
    return { ...answer, Failed }
  })
  const queue = await start({}, choosy)
  await expect(queue.publishMany([1, 2, 3])).rejects.toMatchObject({
    code: 'QueueBatchError',
    message: expect.stringContaining('1 of 3 messages'),
    ids: [expect.any(String), undefined, expect.any(String)],
  })
  const seen: unknown[] = []
  await queue.subscribe((payload) => void seen.push(payload))
  await until(() => seen.length === 2, 'the others')
  expect(seen.sort()).toEqual([1, 3])
})

test('large messages go in several batches; one that is too large is refused before anything is sent', async () => {
  const lots: number[] = []
  const counting = faulty(async (command, send) => {
    if (command instanceof SendMessageBatchCommand) lots.push(command.input.Entries!.length)
    return send()
  })
  const queue = await start({}, counting)
  const large = Array.from({ length: 5 }, (_, i) => `${i}${'ü'.repeat(150_000)}`)
  expect(await queue.publishMany(large)).toHaveLength(5)
  expect(lots).toEqual([3, 2])
  const seen: unknown[] = []
  await queue.subscribe((payload) => void seen.push(payload), { concurrency: 5 })
  await until(() => seen.length === 5, 'all')
  expect(seen.sort()).toEqual(large)
  await expect(queue.publishMany(['small', 'x'.repeat(1_048_576)])).rejects.toMatchObject({
    code: 'QueuePayloadError',
    message: expect.stringContaining('1048578 bytes with its attributes, and the queue takes 1048576'),
  })
  expect(lots).toEqual([3, 2])
})

test('the size limit of a message is that of its queue; attributes count', async () => {
  await start()
  const name = freshName('small')
  await create(name, { MaximumMessageSize: '1024' })
  const queue = sqsQueue<string>(name)
  await queue.publish('x'.repeat(1000))
  const attributes = { MessageAttributes: { unit: { DataType: 'String', StringValue: 'y'.repeat(50) } } }
  for (const [payload, options] of [['x'.repeat(1023)], ['x'.repeat(1000), attributes]] as const) {
    await expect(queue.publish(payload, options)).rejects.toMatchObject({
      code: 'QueuePayloadError',
      message: expect.stringMatching(/has (1025|1062) bytes with its attributes, and the queue takes 1024 /),
    })
  }
})

test('a queue that is not there is named, in publish and in the log of its worker', async () => {
  await start()
  await expect(sqsQueue('never-made').publish(1)).rejects.toMatchObject({
    code: 'QueueMissingError',
    message: expect.stringContaining('sqs.queueUrls'),
  })
})

test('a missing queue is reported once, and delays no other', async () => {
  const entries: Entry[] = []
  const name = freshName('there')
  await create(name)
  const missing = sqsQueue<number>(freshName('missing'))
  const queue = sqsQueue<number>(name)
  const seen: number[] = []
  const handles = [await missing.subscribe(() => {}), await queue.subscribe((i) => void seen.push(i))]
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    gracefulShutdown: false,
    drainWindow: 0,
    router: new RouteCollection(),
    logger: memoryLogger(entries),
    background: { queues: { config: { sqs: { client, waitTimeSeconds: 1 } }, run: true } },
  })
  await server.listen()
  try {
    // Longer than an engine must be well to count as back.
    for (let i = 0; i < 15; i++) {
      await queue.publish(i)
      await pause(100)
    }
    await until(() => seen.length === 15, 'all')
    const warnings = entries.filter(({ level }) => level === 'warn')
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining(missing.name) })])
  } finally {
    for (const handle of handles) await handle.unsubscribe()
    await server.close()
  }
})

test('an address that is given is not asked for', async () => {
  const name = freshName('known')
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }))
  const silent = faulty((command, send) => {
    if (command instanceof GetQueueUrlCommand) throw new Error('asked')
    return send()
  })
  defineQueueConfiguration({ sqs: { client: silent, queueUrls: { mine: QueueUrl! } } })
  await expect(sqsQueue('mine').publish(1)).resolves.toMatchObject({ id: expect.any(String) })
})

test('a body that is not JSON reaches the handler as text', async () => {
  const queue = await start()
  const { SendMessageCommand } = await import('@aws-sdk/client-sqs')
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: queue.name }))
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'not { json' }))
  const seen: unknown[] = []
  await queue.subscribe((payload) => void seen.push(payload))
  await until(() => seen.length === 1, 'the message')
  expect(seen).toEqual(['not { json'])
})
