import { expect, test } from 'vitest'
import { sqsOperations } from '../../../plugins/shared/engines/sqs-operations.ts'

type Call = Parameters<typeof sqsOperations>[0]['call']
const addresses = async () => ['queue', 'dead'] as const

/** A dead letter queue whose messages are visible again at once: they are received in turn, ten at a time. */
function deadLetters(count: number) {
  let [next, calls] = [0, 0]
  const call: Call = async (name) => {
    if (name !== 'ReceiveMessage') return {}
    if (++calls > 1000) throw new Error('it never ends')
    const ids = Array.from({ length: 10 }, () => `${next++ % count}`)
    return { Messages: ids.map((id) => ({ MessageId: id, Body: '1', ReceiptHandle: id })) }
  }
  return sqsOperations({ call, addresses })
}

test('dead letters that are visible again before all were looked at do not make a list or a search endless', async () => {
  expect(await deadLetters(40).list('orders', 'failed', 0, 500)).toHaveLength(40)
  expect(await deadLetters(40).find('orders', 'gone')).toBeUndefined()
  expect(await deadLetters(40).remove('orders', ['gone'])).toBe(0)
})

test('a message of a FIFO queue is sent again in its group, under an id of its own', async () => {
  const sent: object[] = []
  let left = 1
  const call: Call = async (name, input) => {
    if (name === 'SendMessage') sent.push(input)
    const wanted = (input as { MessageSystemAttributeNames?: string[] }).MessageSystemAttributeNames ?? []
    if (name !== 'ReceiveMessage' || left-- === 0) return {}
    const Attributes: Record<string, string> = wanted.includes('MessageGroupId') ? { MessageGroupId: 'ann' } : {}
    return { Messages: [{ MessageId: 'one', Body: '1', ReceiptHandle: 'r', Attributes }] }
  }
  expect(await sqsOperations({ call, addresses }).retry('orders.fifo', ['one'])).toBe(1)
  expect(sent).toEqual([{ QueueUrl: 'queue', MessageBody: '1', MessageGroupId: 'ann', MessageDeduplicationId: 'one' }])
})
