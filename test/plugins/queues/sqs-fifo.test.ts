import { queue, RouteCollection, Server } from 'framework'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { memoryLogger, pause } from '../../support/kernel.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { freshName, until } from '../../support/queues.ts'
import { createSqsQueue, sqsClient, sqsSettings, startSqs } from '../../support/sqs.ts'

// What only FIFO queues of SQS can have of the portable options.

let sqs: OwnServer
const servers: Server[] = []
beforeAll(async () => {
  sqs = await startSqs()
})
afterAll(async () => {
  for (const server of servers) await server.close()
  await sqs.stop()
})

async function fifo(what: string) {
  const client = sqsClient(sqs.url)
  const name = `${freshName(what)}.fifo`
  await createSqsQueue(client, name, { FifoQueue: 'true', ContentBasedDeduplication: 'true' })
  client.destroy()
  return queue<unknown>(name)
}

async function serve() {
  const config = { sqs: { ...sqsSettings(sqs.url), waitTimeSeconds: 1 } }
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, logger: memoryLogger() },
    router: new RouteCollection(),
    background: { queues: { config: { ...config, queues: { default: 'sqs' } }, run: true } },
  })
  servers.push(server)
  await server.listen()
  return server
}

test('an id is known for its five minutes, and messages keep their order', async () => {
  const orders = (await fifo('ids')).for(await serve())
  const id = { value: 'a', ttl: 300_000 }
  for (const n of [1, 2, 3]) await orders.publish(n, n === 2 ? {} : { id })
  await orders.publishMany([4, 5, 6])
  const seen: unknown[] = []
  await orders.subscribe((n, { id: given }) => void seen.push(n === 1 ? [n, given] : n))
  await until(() => seen.length === 5, 'all', 30_000)
  expect(seen).toEqual([[1, 'a'], 2, 4, 5, 6])
})

test('two servers publish each tick of a repetition once', async () => {
  const orders = await fifo('ticks')
  const both = [servers[0]!, await serve()].map((server) => orders.for(server))
  const seen: string[] = []
  await both[0]!.subscribe((_, { id }) => void seen.push(id))
  for (const one of both) await one.publish('tick', { repeat: { key: 'clock', every: 400 } })
  await until(() => seen.length >= 4, 'four ticks')
  for (const one of both) expect(await one.stopRepeat('clock')).toBe(true)
  await pause(500)
  expect(new Set(seen).size).toBe(seen.length)
})
