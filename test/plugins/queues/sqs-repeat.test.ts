import { type ChildProcess, fork, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { GetQueueUrlCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { RouteCollection, Server, sqsQueue } from 'framework'
import { testServer } from 'framework/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { freshName, until } from '../../support/queues.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { createSqsQueue, sqsClient, sqsSettings, startSqs } from '../../support/sqs.ts'

// A standard queue of SQS knows no ids: its repetitions go by the locks of the server.

const script = join(import.meta.dirname, '../fixtures/queues-repeat.mjs')
const root = join(import.meta.dirname, '../../..')

describe.skipIf(!hasRedis)('processes with locks in Redis', () => {
  let redis: OwnServer
  let sqs: OwnServer
  const children: ChildProcess[] = []
  beforeAll(async () => {
    ;[redis, sqs] = await Promise.all([startRedis(), startSqs()])
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all([redis.stop(), sqs.stop()])
  })

  test('publish each tick once, and go on when one of them dies and when Redis is away for a while', async () => {
    const name = freshName('ticks')
    const client = sqsClient(sqs.url)
    await createSqsQueue(client, name)
    const every = 1000
    const settings = { name, sqs: sqsSettings(sqs.url), redis: redis.url, every }
    const stdio: StdioOptions = ['ignore', 'ignore', 'ignore', 'ipc']
    for (const isConfigured of [false, true])
      children.push(fork(script, [JSON.stringify({ ...settings, isConfigured })], { cwd: root, stdio, execArgv: [] }))
    const begun = children.map((child) => once(child, 'message'))
    await Promise.race(begun)
    // The ticks that may have passed, and the messages for them: one that waited for Redis may be late.
    const first = Math.floor(Date.now() / every) - 1
    const passed = () => Math.floor(Date.now() / every) - first
    await Promise.all(begun)

    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
    let seen = 0
    const receive = async () => {
      const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
      seen += Messages.length
      expect(seen).toBeLessThanOrEqual(passed())
      return seen
    }
    const ticks = (count: number) => until(async () => (await receive()) >= count, `${count} ticks`, 30_000)
    // From here on both ask for each tick: were one published twice, there would soon be more messages than ticks.
    await ticks((await receive()) + 6)
    children[0]!.kill('SIGKILL')
    await ticks(seen + 2)
    await redis.kill()
    await redis.restart()
    await ticks(seen + 2)
    client.destroy()
  })
})

test('without the plugin locks, a repetition is refused', async () => {
  const server = new Server({
    ...{ gracefulShutdown: false, logger: memoryLogger(), router: new RouteCollection() },
    background: { queues: { config: { sqs: sqsSettings('http://127.0.0.1:1') } } },
  })
  await server.ready()
  const orders = sqsQueue<string>(freshName('unlocked')).for(server)
  await expect(orders.publish('x', { repeat: { key: 'a', every: 1000 } })).rejects.toThrow(
    /"publish\.repeat" is an object; it takes nothing in the queue "unlocked.*", whose engine knows no ids, unless its server has the plugin "locks"/,
  )
  await server.close()
})

test('in a test, the locks are in memory and follow its clock', async () => {
  const app = new Server({
    ...{ gracefulShutdown: false, logger: memoryLogger(), router: new RouteCollection() },
    plugins: { locks: true },
    background: { queues: { config: { sqs: sqsSettings('http://127.0.0.1:1') }, run: true } },
  })
  await using server = await testServer(app)
  await server.ready()
  const seen: string[] = []
  const ticks = sqsQueue<string>(freshName('memory')).for(app)
  await ticks.subscribe((payload) => void seen.push(payload))
  await ticks.publish('tick', { repeat: { key: 'a', every: 60_000 } })
  await server.clock.advance(180_000)
  expect(seen).toEqual(['tick', 'tick', 'tick'])
  expect(await ticks.stopRepeat('a')).toBe(true)
  await server.clock.advance(180_000)
  expect(seen.length).toBe(3)
})
