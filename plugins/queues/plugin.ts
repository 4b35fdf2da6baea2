import { definePlugin, type Logger } from '../../kernel/index.ts'
import { figure } from '../shared/development/metrics.ts'
import { channels } from './asyncapi.ts'
import { configureForServers } from './config.ts'
import { logTo, memory } from './engines.ts'
import { queuesOptions } from './options.ts'
import { allQueues } from './queue.ts'
import { compileSchema } from './schema.ts'
import { QueueService } from './service.ts'
import { work } from './work.ts'

/**
 * Runs the queues of this process with the server: workers start when it listens, never under `inject`, and stop when it
 * closes, letting their handlers finish.
 *
 * @example
 * import { memoryQueue, Server } from 'framework'
 *
 * const orders = memoryQueue<{ book: number }>('orders')
 * await orders.subscribe(({ book }) => console.log(`print ${book}`))
 * const server = new Server({ background: { queues: { config: { memory: { maxSize: 1000 } }, run: true } } })
 * server.post('/orders', async () => orders.publish({ book: 1 }, { attempts: 3 }))
 */
export const queues = definePlugin({
  name: 'queues',
  options: queuesOptions,
  inspector: async () => (await import('./inspector.ts')).panels,
  work,
  asyncapi: { channels },
  async metrics(services) {
    const counts = await services.get('queues').counts()
    const messages = counts.flatMap(({ queue, kind, waiting, active, delayed, failed }) =>
      Object.entries({ waiting, active, delayed, failed }).map(([state, value]) => ({
        value,
        labels: { queue, kind, state },
      })),
    )
    const ages = counts.flatMap(({ queue, kind, oldest }) =>
      oldest === undefined ? [] : [{ value: oldest / 1_000, labels: { queue, kind } }],
    )
    return [
      figure('gauge', 'queue_messages', 'Messages in queues, by state', messages),
      {
        ...figure('gauge', 'queue_oldest_message_seconds', 'Age of the oldest message that is ready', ages),
        unit: 'seconds',
      },
    ]
  },
  health: { queues: (services) => services.get('queues').health() },
  doctor: async () => (await import('./doctor.ts')).checks,
  provide: () => ({ queues: new QueueService() }),
  setup(ctx, { config, run }) {
    const service = ctx.services.get('queues')
    if (config !== undefined) configureForServers(config)
    const logNoMore = logTo(ctx.log)
    service.claim()
    ctx.onReady(() => {
      for (const { name, schema } of allQueues()) if (schema !== undefined) compileSchema(name, schema)
    })
    if (run) ctx.onListen(() => service.run())
    ctx.onDrain(() => service.drain())
    ctx.onClose(async (timeLeft) => {
      try {
        await service.stop({ timeout: timeLeft })
        if (run) warnOfLeft(ctx.log)
      } finally {
        logNoMore()
      }
    })
  },
})

/** Messages in memory are lost when the process ends. Another server in it may still take them, so this is only a warning. */
function warnOfLeft(log: Logger): void {
  for (const [queue, messages] of memory.left()) {
    const [what, are] = messages === 1 ? ['1 message is', 'is'] : [`${messages} messages are`, 'are']
    log.warn(
      { queue, messages },
      `${what} left in the queue "${queue}", which is in memory, and ${are} lost with the process`,
    )
  }
}
