import type { InspectorPanel } from '../shared/development/panels.ts'
import type { QueueService } from './service.ts'

/** The messages of a queue that were given up; none of an engine that cannot list them. */
async function deadLetters(service: QueueService, queue: string, limit: number) {
  try {
    return (await service.of(queue).list({ limit })).map((message) => ({ queue, message }))
  } catch (error) {
    if ((error as { code?: unknown }).code === 'QueueOperationError') return []
    throw error
  }
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
          if (sent === 0) throw new Error('this message is not a dead letter: it has attempts left, or was sent again')
          return `Sent again: ${id}.`
        },
      },
    ],
  },
]
