import type { Message } from '@aws-sdk/client-sqs'
import type { QueueOperations, StoredMessage } from './contract.ts'
import { QueueOperationError } from './errors.ts'
import { maxEntries, metaIn, payloadOf } from './sqs-body.ts'
import type { SqsCall, SqsResponse } from './sqs-types.ts'

/** What the operations need of the driver. */
interface SqsQueues {
  call(name: SqsCall, input: object): Promise<SqsResponse>
  /** The addresses of a queue and of its dead letter queue, if it has one. */
  addresses(topic: string): Promise<readonly [url: string, dead: string | undefined]>
}

/** How long a dead letter is hidden from others while an operator looks at it, in seconds. */
const hidden = 5
/** The most dead letters that are looked at: SQS has no list, so each is received. */
const maxLooked = 1000

const cannot = (what: string, remedy: string) => QueueOperationError(`SQS cannot ${what}. ${remedy}`)

/** What an operator can do with the messages of SQS: those of the dead letter queue only, since SQS lists no others. */
export function sqsOperations({ call, addresses }: SqsQueues): QueueOperations {
  /** Receives the dead letters, each once, until there is no other or `isEnough`. */
  const receive = async (topic: string, isEnough: (all: ReadonlyMap<string, Message>) => boolean) => {
    const [, dead] = await addresses(topic)
    const all = new Map<string, Message>()
    if (dead === undefined) return { dead: '', all }
    const input = {
      ...{ QueueUrl: dead, MaxNumberOfMessages: maxEntries, VisibilityTimeout: hidden },
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp', 'MessageGroupId'],
    }
    while (all.size < maxLooked && !isEnough(all)) {
      const { Messages = [] } = await call('ReceiveMessage', input)
      const before = all.size
      for (const message of Messages) all.set(message.MessageId!, message)
      // Those that came first are visible again before the last one has come, if these are many: this would never end.
      if (all.size === before) break
    }
    return { dead, all }
  }
  const show = (dead: string, messages: Iterable<Message>) =>
    Promise.all(
      [...messages].map(({ ReceiptHandle }) =>
        call('ChangeMessageVisibility', { QueueUrl: dead, ReceiptHandle, VisibilityTimeout: 0 }),
      ),
    )
  const take = async (topic: string, ids: readonly string[], work: (message: Message) => Promise<unknown>) => {
    const wanted = new Set(ids)
    const { dead, all } = await receive(topic, (got) => [...wanted].every((id) => got.has(id)))
    const messages = [...all.values()]
    const chosen = messages.filter(({ MessageId }) => wanted.has(MessageId!))
    for (const message of chosen) {
      await work(message)
      await call('DeleteMessage', { QueueUrl: dead, ReceiptHandle: message.ReceiptHandle })
    }
    const others = messages.filter((one) => !chosen.includes(one))
    await show(dead, others)
    return chosen.length
  }
  return {
    async list(topic, state, from, limit) {
      if (state !== 'failed')
        throw cannot(
          `list ${state} messages`,
          'It lists failed ones, which are in the dead letter queue; counts() has the numbers',
        )
      const { dead, all } = await receive(topic, (got) => got.size >= from + limit)
      await show(dead, all.values())
      return [...all.values()].slice(from, from + limit).map(stored)
    },
    async find(topic, id) {
      const { dead, all } = await receive(topic, (got) => got.has(id))
      await show(dead, all.values())
      const found = all.get(id)
      return found && stored(found)
    },
    retry: (topic, ids) =>
      take(topic, ids, async ({ MessageId, Body, MessageAttributes, Attributes }) => {
        const [url] = await addresses(topic)
        // Of a FIFO queue, which may still know the id that the message had. This one is new, and the same if only its removal has failed.
        const group = Attributes?.MessageGroupId
        const fifo = group !== undefined && { MessageGroupId: group, MessageDeduplicationId: MessageId }
        const message = { QueueUrl: url, MessageBody: Body, ...fifo, ...(MessageAttributes && { MessageAttributes }) }
        await call('SendMessage', message)
      }),
    remove: (topic, ids) => take(topic, ids, async () => {}),
    pause: () => Promise.reject(cannot('pause a queue', 'End its workers, or set their number to none')),
    resume: () => Promise.reject(cannot('pause a queue', 'Start its workers')),
    isPaused: async () => false,
  }
}

function stored({ MessageId, Body, Attributes = {}, ...rest }: Message): StoredMessage {
  return {
    ...{ id: MessageId!, state: 'failed', payload: payloadOf(Body), meta: metaIn(rest), errors: [] },
    // Those in the queue itself are no longer known.
    ...{ attempt: 0, attempts: undefined },
    publishedAt: Attributes.SentTimestamp === undefined ? undefined : Number(Attributes.SentTimestamp),
  }
}
