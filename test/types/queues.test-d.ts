import {
  bullmqQueue,
  createQueue,
  defineQueueConfiguration,
  type GenericPubSub,
  memoryQueue,
  pgbossQueue,
  type QueueCounts,
  type QueueHandle,
  type QueueService,
  queue,
  Server,
  sqsQueue,
} from 'framework'
import { queues } from 'framework/plugins/queues'
import { Type } from 'typebox'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

interface Order {
  book: number
}

const memory = memoryQueue<Order>('orders')
const redis = bullmqQueue<Order>('orders')
const postgres = pgbossQueue<Order>('orders')
const cloud = sqsQueue<Order>('orders')

// One payload type for each queue, in and out.
memory.publish({ book: 1 })
memory.subscribe((payload, message) => {
  type _payload = Expect<Equal<typeof payload, Order>>
  type _attempt = Expect<Equal<typeof message.attempt, number>>
  return [payload, message]
})
// @ts-expect-error another payload
memory.publish({ title: 'x' })
// @ts-expect-error a handler for another payload
memory.subscribe((_payload: { title: string }) => {})
// @ts-expect-error a member is missing
redis.publish({})

// Publish options are those of the engine.
memory.publish({ book: 1 }, { attempts: 3, backoff: { type: 'fixed', delay: 10 }, delay: 5, priority: 1, id: 'x' })
redis.publish({ book: 1 }, { attempts: 3, backoff: { type: 'exponential', delay: 10 }, removeOnComplete: { count: 5 } })
redis.publish({ book: 1 }, { repeat: { key: 'daily', pattern: '0 3 * * *', tz: 'Europe/Rome' } })
postgres.publish({ book: 1 }, { retryLimit: 4, retryDelay: 30, retryBackoff: true, startAfter: new Date() })
cloud.publish({ book: 1 }, { DelaySeconds: 10, MessageGroupId: 'a' })
memory.publishMany([{ book: 1 }], ({ book }, index) => ({ id: `${book}-${index}` }))
memory.publishMany([{ book: 1 }], { attempts: 2 })
// @ts-expect-error those of Postgres on Redis
redis.publish({ book: 1 }, { retryLimit: 4 })
// @ts-expect-error those of Redis on Postgres
postgres.publish({ book: 1 }, { lifo: true })
// @ts-expect-error SQS has no priorities
cloud.publish({ book: 1 }, { priority: 4 })
// Those of every engine are valid on each, and alone on a union.
cloud.publish({ book: 1 }, { attempts: 4, backoff: 1000, delay: 5000, timeout: 100, expireIn: 60_000 })
const either = Math.random() > 0.5 ? redis : postgres
either.publish({ book: 1 }, { attempts: 4, priority: 1 })
// @ts-expect-error those of one engine alone
either.publish({ book: 1 }, { retryLimit: 4 })
const portable = queue<Order>('orders', { attempts: 4, timeout: 1000 })
portable.publish(
  { book: 1 },
  { id: { value: 'a', ttl: 1000 }, backoff: { type: 'exponential', delay: 10, jitter: 0.5 } },
)
// @ts-expect-error those of an engine
portable.publish({ book: 1 }, { retryLimit: 4 })
// @ts-expect-error an id belongs to one message
queue<Order>('orders', { id: 'x' })
portable.subscribeBatch((orders, messages) => console.log(orders[0]!.book, messages.length), { size: 10 })
// @ts-expect-error there is no such backoff
memory.publish({ book: 1 }, { backoff: { type: 'linear' } })

type _published = Expect<Equal<ReturnType<typeof memory.publish>, Promise<{ id: string }>>>
type _counts = Expect<Equal<ReturnType<typeof memory.counts>, Promise<QueueCounts>>>
async function handles() {
  const handle = await redis.subscribe(() => {}, { concurrency: 5, onDead: (payload: Order) => payload.book })
  type _handle = Expect<Equal<typeof handle, QueueHandle>>
  await redis.stopRepeat('daily')
  await memory.drained()
  // @ts-expect-error only a queue in memory can be awaited
  await redis.drained()
  // @ts-expect-error a misspelt option
  await redis.subscribe(() => {}, { concurency: 5 })
}
type _used = typeof handles

// A schema types published and received payloads.
const checked = memoryQueue('checked', { schema: z.object({ at: z.string().transform((text) => new Date(text)) }) })
checked.publish({ at: '2026-01-01' })
checked.subscribe((payload) => {
  type _at = Expect<Equal<typeof payload.at, Date>>
  return payload
})
// @ts-expect-error the schema wants text
checked.publish({ at: new Date() })
const boxed = bullmqQueue('boxed', { schema: Type.Object({ book: Type.Integer() }) })
boxed.publish({ book: 1 })
boxed.subscribe((payload) => {
  type _book = Expect<Equal<typeof payload.book, number>>
  return payload
})
const plain = pgbossQueue('plain', {
  schema: { type: 'object', properties: { book: { type: 'integer' } }, required: ['book'] },
})
plain.publish({ book: 1 })
// @ts-expect-error a number
plain.publish({ book: 'x' })
// With a type of its own the schema only checks.
memoryQueue<Order>('typed', { schema: { type: 'object' } }).publish({ book: 1 })

// Methods take the payload of their queue.
class Handlers {
  @memory.subscribeMethod({ concurrency: 2 })
  handle(payload: Order) {
    return payload.book
  }
  @memory.subscribe()
  older({ book }: Order) {
    return book
  }
  // @ts-expect-error a method for another payload
  @memory.subscribeMethod()
  wrong(payload: { title: string }) {
    return payload.title
  }
  // @ts-expect-error no field is a subscriber
  @memory.subscribeMethod()
  field = 1
}
type _handlers = Handlers

// A custom engine has its own options.
declare const broker: GenericPubSub<{ urgent?: boolean }>
const custom = createQueue<Order, { urgent?: boolean }>('orders', broker)
custom.publish({ book: 1 }, { urgent: true })
// @ts-expect-error no option of this engine
custom.publish({ book: 1 }, { attempts: 3 })
// @ts-expect-error no engine
createQueue<Order>('orders', { publish: async () => ({ id: '1' }) })

defineQueueConfiguration({
  bullmq: {
    connection: { host: 'localhost', port: 6379 },
    errorHandler: (error, failure) => {
      type _error = Expect<Equal<typeof error, Error>>
      type _attempt = Expect<Equal<typeof failure.attempt, number>>
      console.error(error, failure)
    },
  },
  broker: { errorHandler: (error) => console.error(error.message) },
})
const kept = { pgboss: { connectionString: 'postgres://127.0.0.1' } }
defineQueueConfiguration(kept)
// @ts-expect-error a misspelt setting
defineQueueConfiguration({ bullmq: { conection: 'redis://127.0.0.1' } })
// @ts-expect-error the address is text
defineQueueConfiguration({ pgboss: { connectionString: 5 } })

new Server({ background: { queues: { config: { memory: {} }, run: true } } })
new Server({ plugins: { queues: { run: true } } })
const server = new Server([queues({ config: { bullmq: {} } })])
type _service = Expect<Equal<typeof server.services.queues, QueueService>>
type _run = Expect<Equal<ReturnType<typeof QueueService.run>, Promise<void>>>
// @ts-expect-error a misspelt option
new Server({ background: { queues: { runs: true } } })
// @ts-expect-error a misspelt key
new Server({ background: { queue: {} } })
