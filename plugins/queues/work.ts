import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { QueuePublishTrace } from './queue.ts'
import type { QueueAttemptTrace } from './subscription.ts'

const labels = {
  queue: { attribute: 'messaging.destination.name', of: ({ queue }: { readonly queue: string }) => queue },
  kind: { attribute: 'messaging.system', of: ({ kind }: { readonly kind: string }) => kind },
}

const publish = { 'messaging.operation.name': 'publish', 'messaging.operation.type': 'send' }
const process = { 'messaging.operation.name': 'process' }

export const work: readonly WorkKind[] = [
  workKind<QueuePublishTrace>({
    channel: 'queue.publish',
    role: 'publish',
    list: { id: 'publish', title: 'Published' },
    help: 'Publishing to queues',
    span: ({ queue }) => `publish ${queue}`,
    title: ({ queue }) => queue,
    note: ({ count }) => (count === 1 ? '' : `${count} messages`),
    data: ({ queue, kind, count, payloads }) => ({ queue, engine: kind, count, payloads }),
    labels,
    attributes: ({ count }) => ({ ...publish, 'messaging.batch.message_count': count === 1 ? undefined : count }),
    duration: { name: 'messaging.client.operation.duration', attributes: publish },
  }),
  workKind<QueueAttemptTrace>({
    channel: 'queue.attempt',
    role: 'process',
    list: { id: 'attempt', title: 'Jobs' },
    help: 'Attempts at messages of queues',
    span: ({ queue }) => `process ${queue}`,
    title: ({ queue }) => queue,
    note: ({ attempt, attempts }) => `attempt ${attempt}${attempts === undefined ? '' : ` of ${attempts}`}`,
    data: ({ queue, kind: engine, id, attempt, attempts, payload }) => ({
      ...{ queue, engine, id, attempt, attempts, payload },
    }),
    again: ({ queue, id }) => ({ panel: 'Dead letters', action: 'Send again', id: JSON.stringify([queue, id]) }),
    labels,
    attributes: ({ id, attempt, attempts }) => ({
      ...process,
      'messaging.operation.type': 'process',
      'messaging.message.id': id,
      'framework.queue.attempt': attempt,
      'framework.queue.attempts': attempts,
    }),
    duration: { name: 'messaging.process.duration', attributes: process },
  }),
]
