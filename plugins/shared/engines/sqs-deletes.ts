import { systemClock, type Timer } from '../../../kernel/index.ts'
import type { DriverHost } from './contract.ts'
import { maxEntries } from './sqs-body.ts'
import type { SqsResponse } from './sqs-types.ts'

/** Messages that are done within this many milliseconds of each other are deleted together. */
const window = 20
const maxTries = 5

interface Done {
  readonly url: string
  readonly handle: string
  readonly settled: () => void
  tries: number
}

/** Deletes messages that are done, up to ten per call; failed deletions of a batch are retried. `call` deletes one batch. */
export function sqsDeletes(call: (input: object) => Promise<SqsResponse>, host: DriverHost) {
  const waiting: Done[] = []
  const sending = new Set<Promise<void>>()
  let timer: Timer | undefined

  const push = (done: Done): void => {
    waiting.push(done)
    if (waiting.length >= maxEntries) send()
    else timer ??= systemClock.setTimeout(send, window * 2 ** done.tries)
  }

  const send = (): void => {
    systemClock.clear(timer)
    timer = undefined
    const lot = waiting.splice(0, maxEntries)
    if (lot.length === 0) return
    const sent = deleteAll(lot).finally(() => sending.delete(sent))
    sending.add(sent)
  }

  const deleteAll = async (lot: readonly Done[]): Promise<void> => {
    const failed = new Map<number, unknown>()
    try {
      const Entries = lot.map(({ handle }, i) => ({ Id: String(i), ReceiptHandle: handle }))
      const { Failed = [] } = await call({ QueueUrl: lot[0]!.url, Entries })
      for (const one of Failed) failed.set(Number(one.Id), new Error(`${one.Code}: ${one.Message ?? ''}`))
    } catch (error) {
      lot.forEach((_, i) => void failed.set(i, error))
    }
    lot.forEach((done, i) => {
      if (!failed.has(i)) done.settled()
      else if (++done.tries < maxTries) push(done)
      else {
        host.warn('a handled message could not be deleted from SQS, so it will be delivered again', failed.get(i))
        done.settled()
      }
    })
  }

  return {
    /** Resolves when the message is gone, or given up. */
    add: (url: string, handle: string): Promise<void> =>
      new Promise((settled) => push({ url, handle, settled, tries: 0 })),
    /** Deletes waiting messages, and resolves when no call is in progress. */
    async flush(): Promise<void> {
      while (waiting.length > 0 || sending.size > 0) {
        send()
        await Promise.all(sending)
      }
    },
  }
}

export type SqsDeletes = ReturnType<typeof sqsDeletes>
