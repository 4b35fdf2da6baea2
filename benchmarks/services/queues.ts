import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { Handled, missing, pair } from './pair.ts'

const message = { order: 4711, email: 'ada@example.com', lines: [{ sku: 'SKU-1', quantity: 2 }] }
type Message = typeof message
const isRight = ({ order }: Message) => order === message.order

/** How many messages are in progress at a time. */
const width = 16

type Publish = (payload: Message) => Promise<unknown>
type Handle = (payload: Message) => Promise<void>

/** A list and a loop, which reports a failure and continues; each handler receives a copy of the message, as it does from every queue. */
function memoryByHand(handle: Handle): Publish {
  const waiting: string[] = []
  let isAtWork = false
  let last = 0
  const work = async () => {
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      try {
        await handle(JSON.parse(text) as Message)
      } catch (error) {
        console.error(error)
      }
    }
    isAtWork = false
  }
  return async (payload) => {
    waiting.push(JSON.stringify(payload))
    if (!isAtWork) {
      isAtWork = true
      queueMicrotask(work)
    }
    return { id: String(++last) }
  }
}

async function bullmqByHand(url: string, handle: Handle): Promise<Publish> {
  const { Queue, Worker } = await import('bullmq')
  const { hostname: host, port } = new URL(url)
  const at = { host, port: Number(port) }
  const queue = new Queue('by-hand', { connection: at, defaultJobOptions: { removeOnComplete: 1000 } })
  const connection = { ...at, maxRetriesPerRequest: null }
  const worker = new Worker('by-hand', ({ data }) => handle(data as Message), { connection, concurrency: width })
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
  return (payload) => queue.add('by-hand', payload)
}

/** A loop that fetches while there are messages: pg-boss's own `work` polls only twice a second. */
async function pgbossByHand(url: string, handle: Handle): Promise<Publish> {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({ connectionString: url, schema: 'by_hand', schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue('by-hand')
  let running = 0
  let isAsking = false
  let isWoken = false
  const look = async (): Promise<void> => {
    isWoken = true
    if (isAsking || running >= width) return
    isAsking = true
    isWoken = false
    const jobs = await boss.fetch<Message>('by-hand', { batchSize: width - running, includeMetadata: true })
    isAsking = false
    for (const { id, data } of jobs) {
      running++
      void handle(data)
        .then(() => boss.complete('by-hand', id))
        .then(() => {
          running--
          void look()
        })
    }
    if (jobs.length > 0 || isWoken) await look()
  }
  return async (payload) => {
    const id = await boss.send('by-hand', payload)
    void look()
    return id
  }
}

/** Follows a message from `publish` to the end of its handler. */
export async function queuesCases(built: Built): Promise<MicroCase[]> {
  const { bullmqQueue, defineQueueConfiguration, memoryQueue, pgbossQueue, QueueService } = await built.door()
  const { 'redis-server': redis, postgres } = built.services
  defineQueueConfiguration({
    ...(redis !== undefined && { bullmq: { connection: redis } }),
    // A poll during other cases would be part of their cost. Publishing here wakes the poller.
    ...(postgres !== undefined && { pgboss: { connectionString: postgres, pollInterval: 60_000 } }),
  })
  const kinds = {
    memory: { queue: memoryQueue<Message>('orders'), byHand: memoryByHand },
    ...(redis !== undefined && {
      BullMQ: { queue: bullmqQueue<Message>('orders'), byHand: (handle: Handle) => bullmqByHand(redis, handle) },
    }),
    ...(postgres !== undefined && {
      'pg-boss': { queue: pgbossQueue<Message>('orders'), byHand: (handle: Handle) => pgbossByHand(postgres, handle) },
    }),
  }
  const cases: MicroCase[] = []
  for (const [kind, { queue, byHand }] of Object.entries(kinds)) {
    const [own, other] = [new Handled(isRight), new Handled(isRight)]
    await queue.subscribe(own.handle, { concurrency: width })
    const publish = await byHand(other.handle)
    cases.push(
      ...pair(`publish and consume, ${kind}`, width, {
        'by hand': other.through(() => publish(message)),
        framework: own.through(() => queue.publish(message)),
      }),
    )
  }
  await QueueService.run()
  if (redis === undefined) cases.push(missing('publish and consume, BullMQ', 'redis-server'))
  if (postgres === undefined) cases.push(missing('publish and consume, pg-boss', 'postgres'))
  return cases
}
