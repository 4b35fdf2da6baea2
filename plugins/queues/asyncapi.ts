import type { AsyncApiChannel } from '../asyncapi/index.ts'
import { addressOfName } from '../shared/descriptions/names.ts'
import { declaredSubscriptions } from './registry.ts'

/** The protocols of engines in AsyncAPI; the others have the same name there. */
const protocols: Readonly<Record<string, string>> = { bullmq: 'redis', sqs: 'sqs' }

/** The channels for the description of messages: each queue of this process that has a subscriber. */
export function channels(): AsyncApiChannel[] {
  const queues = new Set(declaredSubscriptions().map(({ queue }) => queue))
  return [...queues].map(({ name, kind, schema }) => ({
    address: addressOfName(name),
    title: `The queue ${name}`,
    protocol: protocols[kind] ?? kind,
    receive: [
      {
        name,
        ...(schema === undefined ? { description: 'JSON of any content.' } : { payload: schema }),
      },
    ],
    'x-engine': kind,
    ...(kind === 'sqs' && {
      bindings: { sqs: { queue: { name, fifoQueue: name.endsWith('.fifo') }, bindingVersion: '0.2.0' } },
    }),
  }))
}
