import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { RouteCollection, Server, type SqsConfig, sqsQueue } from 'framework'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Entry, memoryLogger, pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { freshName, until } from '../../support/queues.ts'
import { createSqsQueue, sqsClient, startSqs } from '../../support/sqs.ts'

// Each test has a server of its own, so they run side by side: most of the time they wait.
vi.setConfig({ maxConcurrency: 10 })

let emulator: OwnServer
let client: SQSClient
const servers: Server[] = []
beforeAll(async () => {
  emulator = await startSqs()
  client = sqsClient(emulator.url)
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()))
  client.destroy()
  await emulator.stop()
})

async function serve(settings: SqsConfig = {}, log: Entry[] = [], closeTimeout = 30_000): Promise<Server> {
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, closeTimeout, logger: memoryLogger(log) },
    router: new RouteCollection(),
    background: { queues: { config: { sqs: { client, waitTimeSeconds: 1, ...settings } }, run: true } },
  })
  servers.push(server)
  await server.listen()
  return server
}

async function start(settings: SqsConfig = {}) {
  const name = freshName('faults')
  await createSqsQueue(client, name)
  return sqsQueue<unknown>(name).for(await serve(settings))
}

const isEmpty = ({ waiting, active }: { waiting: number; active: number }) => waiting + active === 0

/** The client, with one kind of command answered otherwise. */
function faulty(intercept: (command: object, send: () => Promise<unknown>) => Promise<unknown>): object {
  return {
    send: (command: never, options: never) => intercept(command, () => client.send(command, options)),
    destroy() {},
  }
}

test.concurrent('a handler that takes longer than the visibility time-out keeps its message to itself', async () => {
  // It is prolonged every 4 s, so that a busy machine has another 4 s to do so.
  const queue = await start({ visibilityTimeout: 8 })
  const begun: number[] = []
  let done = 0
  const slow = async (_payload: unknown, { attempt }: { attempt: number }) => {
    begun.push(attempt)
    await pause(10_000)
    done++
  }
  await queue.subscribe(slow, { concurrency: 2 })
  await queue.publish('slow')
  await until(() => done === 1, 'its end')
  await until(async () => isEmpty(await queue.counts()), 'the deletion')
  expect(begun).toEqual([1])
})

test.concurrent('a message whose handler was given up when the server closed goes to another one', async () => {
  const name = freshName('left')
  await createSqsQueue(client, name)
  // A quarter of it is waited for the handler; the rest is for a busy machine.
  const server = await serve({ visibilityTimeout: 2 }, [], 4000)
  const queue = sqsQueue<string>(name)
  let begun = 0
  await queue.for(server).subscribe(() => {
    begun++
    return new Promise(() => {})
  })
  await queue.for(server).publish('stuck')
  await until(() => begun === 1, 'the handler')
  await server.close()
  const other = queue.for(await serve())
  const seen: string[] = []
  await other.subscribe((payload) => void seen.push(payload))
  await until(() => seen.length === 1, 'the message')
})

test.concurrent('a message that fails comes again with the next attempt, after retryDelay', async () => {
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

test.concurrent('a pause that is longer than SQS can have is the longest one', async () => {
  const name = freshName('longest')
  const deadLetterTargetArn = await createSqsQueue(client, `${name}-dead`)
  await createSqsQueue(client, name, {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }),
  })
  let hidden: number | undefined
  const watched = faulty(async (command, send) => {
    if (command instanceof ChangeMessageVisibilityCommand) hidden = command.input.VisibilityTimeout
    return send()
  })
  const log: Entry[] = []
  const queue = sqsQueue(name).for(await serve({ client: watched, errorHandler() {} }, log))
  await queue.subscribe(() => {
    throw new Error('no')
  })
  await queue.publish('x', { attempts: 3, backoff: 43_200_000 })
  await until(() => hidden !== undefined, 'the pause')
  expect(hidden).toBeGreaterThan(43_000)
  expect(hidden).toBeLessThan(43_200)
  expect(log.filter(({ level }) => level === 'warn')).toEqual([])
})

test.concurrent('a delete that fails is retried: the message does not come twice', async () => {
  let failures = 0
  const flaky = faulty(async (command, send) => {
    if (command instanceof DeleteMessageBatchCommand && failures++ < 2) {
      if (failures === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      const { Entries = [] } = command.input
      return { Failed: Entries.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })), Successful: [] }
    }
    return send()
  })
  const queue = await start({ visibilityTimeout: 5, client: flaky })
  let ran = 0
  await queue.subscribe(() => void ran++, { concurrency: 5 })
  await queue.publishMany([1, 2, 3])
  await until(() => ran === 3, 'all')
  await until(async () => isEmpty(await queue.counts()), 'the deletion')
  expect(ran).toBe(3)
  expect(failures).toBeGreaterThan(2)
})

test.concurrent('a batch that SQS refuses in part rejects, and reports the published ones', async () => {
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
  const queue = await start({ client: choosy })
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

test.concurrent('large messages go in several batches; one that is too large is refused before anything is sent', async () => {
  const lots: number[] = []
  const counting = faulty(async (command, send) => {
    if (command instanceof SendMessageBatchCommand) lots.push(command.input.Entries!.length)
    return send()
  })
  const queue = await start({ client: counting })
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

test.concurrent('no batch is sent any more after publishMany has rejected', async () => {
  let lots = 0
  let secondSent: Promise<unknown> | undefined
  let letThrough = () => {}
  const isRejected = new Promise<void>((resolve) => {
    letThrough = resolve
  })
  const slow = faulty((command, send) => {
    if (!(command instanceof SendMessageBatchCommand) || ++lots !== 2) return send()
    secondSent = isRejected.then(send)
    return secondSent
  })
  const queue = await start({ client: slow, publishTimeout: 3000 })
  // Its address is known then.
  await queue.publish(0)
  const rejected = queue.publishMany(Array.from({ length: 60 }, (_, i) => i))
  await expect(rejected).rejects.toMatchObject({ code: 'QueueUnavailableError' })
  letThrough()
  // It may be given up before it is sent: its own timeout is that of publishMany.
  await Promise.allSettled([secondSent])
  // Sent after the second batch has ended, so a third one would have begun before.
  await queue.publish(1)
  expect(lots).toBe(2)
})

test.concurrent('the size limit of a message is that of its queue; attributes count', async () => {
  const name = freshName('small')
  await createSqsQueue(client, name, { MaximumMessageSize: '1024' })
  const queue = sqsQueue<string>(name).for(await serve())
  await queue.publish('x'.repeat(1000))
  const attributes = { MessageAttributes: { unit: { DataType: 'String', StringValue: 'y'.repeat(50) } } }
  for (const [payload, options] of [['x'.repeat(1023)], ['x'.repeat(1000), attributes]] as const) {
    await expect(queue.publish(payload, options)).rejects.toMatchObject({
      code: 'QueuePayloadError',
      message: expect.stringMatching(/has (1025|1062) bytes with its attributes, and the queue takes 1024 /),
    })
  }
})

test.concurrent('a queue that is not there is named, in publish and in the log of its worker', async () => {
  await expect(
    sqsQueue('never-made')
      .for(await serve())
      .publish(1),
  ).rejects.toMatchObject({
    code: 'QueueMissingError',
    message: expect.stringContaining('sqs.queueUrls'),
  })
})

test.concurrent('a missing queue is reported once, and delays no other', async () => {
  const entries: Entry[] = []
  const name = freshName('there')
  await createSqsQueue(client, name)
  const server = await serve({}, entries)
  const missing = sqsQueue<number>(freshName('missing'))
  const queue = sqsQueue<number>(name).for(server)
  const seen: number[] = []
  await missing.for(server).subscribe(() => {})
  await queue.subscribe((i) => void seen.push(i))
  // Longer than an engine must be well to count as back.
  for (let i = 0; i < 15; i++) {
    await queue.publish(i)
    await pause(100)
  }
  await until(() => seen.length === 15, 'all')
  const warnings = entries.filter(({ level }) => level === 'warn')
  expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining(missing.name) })])
})

test.concurrent('a dead letter reaches the subscriber of its queue although its time is over, whatever its version', async () => {
  const name = freshName('lettered')
  const deadLetterTargetArn = await createSqsQueue(client, `${name}-dead`)
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 })
  await createSqsQueue(client, name, { RedrivePolicy })
  const server = await serve({ errorHandler() {} })
  const queue = sqsQueue<unknown>(name, { version: 2, upgrade: (payload) => payload }).for(server)
  const seen: unknown[] = []
  await queue.subscribe(() => {
    throw new Error('no')
  })
  const dead = sqsQueue<unknown>(`${name}-dead`).for(server)
  await dead.subscribe((payload, { attempts }) => void seen.push([payload, attempts]))
  await queue.publish('late', { expireIn: 1 })
  await queue.publish('failed', { attempts: 1 })
  // SQS itself moves it.
  await queue.publish('moved')
  await until(() => seen.length === 3, 'all')
  expect(seen.toSorted()).toEqual([
    ['failed', undefined],
    ['late', undefined],
    ['moved', undefined],
  ])
})

test.concurrent('a message that is given up in a queue without a dead letter queue comes again, but not at once', async () => {
  const queue = await start({ visibilityTimeout: 5, errorHandler() {} })
  let given = 0
  await queue.subscribe(() => {}, { onDead: () => void given++ })
  await queue.publish('late', { expireIn: 1 })
  await until(() => given === 1, 'the end')
  await pause(1000)
  expect(given).toBe(1)
})

test.concurrent('an address that is given is not asked for', async () => {
  const name = freshName('known')
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }))
  const silent = faulty((command, send) => {
    if (command instanceof GetQueueUrlCommand) throw new Error('asked')
    return send()
  })
  const server = await serve({ client: silent, queueUrls: { mine: QueueUrl! } })
  await expect(sqsQueue('mine').for(server).publish(1)).resolves.toMatchObject({ id: expect.any(String) })
})

test.concurrent('a body that is not JSON reaches the handler as text', async () => {
  const queue = await start()
  const { SendMessageCommand } = await import('@aws-sdk/client-sqs')
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: queue.name }))
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'not { json' }))
  const seen: unknown[] = []
  await queue.subscribe((payload) => void seen.push(payload))
  await until(() => seen.length === 1, 'the message')
  expect(seen).toEqual(['not { json'])
})
