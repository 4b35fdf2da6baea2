import { definePlugin, didYouMean, type Kernel, type Logger } from '../../kernel/index.ts'
import type { AsyncApiChannel } from '../asyncapi/index.ts'
import { addressOfName } from '../shared/descriptions/names.ts'
import { figure } from '../shared/development/metrics.ts'
import type { QueueRef } from '../shared/engines/custom.ts'
import { QueueConfigurationError } from '../shared/engines/errors.ts'
import type { MemoryDriver } from '../shared/engines/memory.ts'
import { queuesOptions } from '../shared/engines/options.ts'
import { announceBackend } from '../shared/stores/backends.ts'
import { deliverFromOutbox } from '../shared/work/outbox.ts'
import type { Engines } from './engines.ts'
import { openWork } from './open-work.ts'
import { allQueues, type DeclaredQueue } from './registry.ts'
import { compileSchema } from './schema.ts'
import { QueueService, subscribers } from './service.ts'
import { work } from './work.ts'

export type {} from '../shared/development/panels.ts'

export { allQueues } from './registry.ts'

/** The protocols of engines in AsyncAPI; the others have the same name there. */
const protocols: Readonly<Record<string, string>> = { bullmq: 'redis', sqs: 'sqs' }

/** The messages of a queue that were given up; none of an engine that cannot list them. */
async function deadLetters(service: QueueService, queue: string, limit: number) {
  try {
    return (await service.of(queue).list({ limit })).map((message) => ({ queue, message }))
  } catch (error) {
    if ((error as { code?: unknown }).code === 'QueueOperationError') return []
    throw error
  }
}

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
  access: { routes: true },
  options: queuesOptions,
  inspector: () => [
    {
      title: 'Queues',
      columns: ['Queue', 'Engine', 'Waiting', 'Active', 'Delayed', 'Failed', 'Subscribers'],
      async rows(services) {
        const service = services.get('queues')
        const subscribers = service.subscribers()
        return (await service.counts()).map(({ queue, kind, waiting, active, delayed, failed }) => {
          const own = subscribers.filter((one) => one.queue === queue && one.kind === kind)
          return [queue, kind, waiting, active, delayed, failed, own.length]
        })
      },
    },
    {
      title: 'Dead letters',
      columns: ['Queue', 'Message', 'Attempts', 'Error', 'Payload'],
      async rows(services, limit) {
        const service = services.get('queues')
        const all = await Promise.all(service.declared().map(({ name }) => deadLetters(service, name, limit)))
        const some = all.flat().slice(0, limit)
        return some.map(({ queue, message: { id, attempt, errors, payload } }) => ({
          id: JSON.stringify([queue, id]),
          cells: [queue, id, attempt, errors.at(-1)?.message, typeof payload === 'object' ? payload : String(payload)],
        }))
      },
      actions: [
        {
          name: 'Send again',
          confirm: 'Give this message all its attempts again?',
          async run(services, row) {
            const [queue, id] = JSON.parse(row) as [string, string]
            const operator = services.get('queues').of(queue)
            const sent = await operator.retry({ ids: [id], by: 'the inspector' })
            if (sent === 0)
              throw new Error('this message is not a dead letter: it has attempts left, or was sent again')
            return `Sent again: ${id}.`
          },
        },
      ],
    },
  ],
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
      figure('gauge', 'queue_oldest_message_seconds', 'Age of the oldest message that is ready', ages, {
        unit: 'seconds',
      }),
    ]
  },
  reaches: (_settings, { queues }) =>
    queues!.declared().flatMap(({ kind }) => queues!.engines.backendOf(kind)?.[0] ?? []),
  runs: (services) => services.queues!.subscribers().map(({ queue }) => `process ${queue}`),
  health: {
    queues: {
      check: (services) => services.get('queues').health(),
      remedy: 'Start the engine of the queues, or correct queues.config',
    },
  },
  openWork: (services) => openWork(services.get('queues')),
  memory: { run: true, isInMemory: true },
  doctor: async () => (await import('./doctor.ts')).checks,
  provide: () => ({ queues: new QueueService() }),
  async setup(ctx, { config, run, ui, isInMemory }) {
    const service = ctx.services.get('queues')
    // Loaded here rather than on import: a server without the page should not load it. It may refuse to start, so it comes first.
    if (ui !== false) (await import('./ui/ui.ts')).addQueuePage(ctx, service, ui)
    const unmount = service.mount(ctx.server, ctx.log, config)
    deliverFromOutbox(ctx.server, 'queues', (batch) => service.deliver(batch))
    const { engines } = service
    const failure = (why: string, [queue]: readonly unknown[]) =>
      engines.unavailable(queue as QueueRef, `does not respond: ${why}`)
    announceBackend(ctx.server, 'queues', engines, { methods: ['ask'], limit: 5_000, failure })
    engines.locks = () => ctx.services.find('locks')
    engines.isInMemory = engines.memory.notesSites = isInMemory
    ctx.onReady(() => {
      for (const { name, schema } of allQueues()) if (schema !== undefined) compileSchema(name, schema)
      checkEngines(engines)
    })
    if (run) ctx.onListen(() => service.run())
    ctx.onDrain(() => {
      service.repeats.endAll()
      return service.drain(ctx.server.settings.closeTimeout / 4).then(() => {})
    })
    ctx.onClose(async (timeLeft) => {
      await service.stop({ timeout: timeLeft }).finally(unmount)
      if (run) warnOfLeft(engines.memory, ctx.log)
    })
  },
})

/** Checks, once all modules are imported, what the configuration says about queues that name no engine. */
function checkEngines(engines: Engines): void {
  const open = allQueues().filter(({ kind }) => kind === undefined)
  const names = open.map(({ name }) => name)
  for (const name of Object.keys(engines.config.queues))
    if (name !== 'default' && !names.includes(name))
      throw QueueConfigurationError(
        `the configuration names an engine for the queue "${name}", which no imported module makes with queue("${name}").${didYouMean(name, names)}`,
      )
  for (const one of open) {
    const engine = engines.resolve<DeclaredQueue>(one)
    const { name, kind } = engine
    if (!engines.isConfigured(engine)) continue
    one.settings(engine)
    const left = kind === 'memory' ? 0 : engines.memory.topic(name).size
    if (left > 0)
      throw QueueConfigurationError(
        `the queue "${name}" was used before its engine was known: ${left === 1 ? 'a message is' : `${left} messages are`} in memory and not in ${kind}. Publish after the server has booted, or call defineQueueConfiguration before`,
      )
  }
}

function warnOfLeft(memory: MemoryDriver, log: Logger): void {
  for (const [queue, messages] of memory.left()) {
    const [what, are] = messages === 1 ? ['1 message is', 'is'] : [`${messages} messages are`, 'are']
    const fate = `left in the queue "${queue}", which is in memory, and ${are} lost with the server`
    log.warn({ queue, messages }, `${what} ${fate}`)
  }
}

/** The channels for the description of messages: each queue of this process that has a subscriber. */
function channels({ server }: { readonly server: Kernel }): AsyncApiChannel[] {
  const { engines } = server.services.get('queues')
  const queues = new Map(
    subscribers.of(server).map(({ queue }) => [queue, engines.resolve<DeclaredQueue>(queue as never)]),
  )
  return [...queues.values()].map(({ name, kind, schema }) => ({
    address: addressOfName(name),
    title: `The queue ${name}`,
    protocol: protocols[kind] ?? kind,
    receive: [{ name, ...(schema === undefined ? { description: 'JSON of any content.' } : { payload: schema }) }],
    'x-engine': kind,
    ...(kind === 'sqs' && {
      bindings: { sqs: { queue: { name, fifoQueue: name.endsWith('.fifo') }, bindingVersion: '0.2.0' } },
    }),
  }))
}
