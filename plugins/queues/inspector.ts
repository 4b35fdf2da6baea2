import type { InspectorPanel } from '../shared/development/panels.ts'
import type { DeadMessage } from '../shared/engines/memory.ts'
import type { DeclaredQueue } from './registry.ts'
import type { QueueService } from './service.ts'

/** The dead letters of the queues in memory; the other engines have tools of their own. */
function deadLetters(
  service: QueueService,
): { readonly id: string; readonly queue: DeclaredQueue; readonly message: DeadMessage }[] {
  const queues = service.declared().filter(({ kind }) => kind === 'memory')
  const all = queues.flatMap((queue) =>
    service.engines.memory
      .dead(queue.name)
      .map((message) => ({ id: JSON.stringify([queue.name, message.id]), queue, message })),
  )
  return all.reverse()
}

export const panels: readonly InspectorPanel[] = [
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
    rows: (services, limit) =>
      deadLetters(services.get('queues'))
        .slice(0, limit)
        .map(({ id, queue, message: { id: name, attempts, error, payload } }) => ({
          id,
          cells: [queue.name, name, attempts, error.message, typeof payload === 'object' ? payload : String(payload)],
        })),
    actions: [
      {
        name: 'Publish again',
        confirm: 'Publish this message once more?',
        async run(services, id) {
          const found = deadLetters(services.get('queues')).find((one) => one.id === id)
          if (found === undefined) throw new Error('this message no longer exists')
          const made = await found.queue.publish(found.message.payload)
          return `Published as ${made.id}.`
        },
      },
    ],
  },
]
