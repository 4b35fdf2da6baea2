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

/** Deletes messages that are done, up to ten per call; failed deletions of a batch are retried. */
export class SqsDeletes {
  readonly #call: (input: object) => Promise<SqsResponse>
  readonly #host: DriverHost
  #waiting: Done[] = []
  #timer: Timer | undefined
  readonly #sending = new Set<Promise<void>>()

  /** `call` deletes one batch. */
  constructor(call: (input: object) => Promise<SqsResponse>, host: DriverHost) {
    this.#call = call
    this.#host = host
  }

  /** Resolves when the message is gone, or given up. */
  add(url: string, handle: string): Promise<void> {
    return new Promise((settled) => this.#push({ url, handle, settled, tries: 0 }))
  }

  /** Deletes waiting messages, and resolves when no call is in progress. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending.size > 0) {
      this.#send()
      await Promise.all(this.#sending)
    }
  }

  #push(done: Done): void {
    this.#waiting.push(done)
    if (this.#waiting.length >= maxEntries) this.#send()
    else this.#timer ??= systemClock.setTimeout(() => this.#send(), window * 2 ** done.tries)
  }

  #send(): void {
    systemClock.clear(this.#timer)
    this.#timer = undefined
    const lot = this.#waiting.splice(0, maxEntries)
    if (lot.length === 0) return
    const sending = this.#delete(lot).finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }

  async #delete(lot: readonly Done[]): Promise<void> {
    const failed = new Map<number, unknown>()
    try {
      const Entries = lot.map(({ handle }, i) => ({ Id: String(i), ReceiptHandle: handle }))
      const { Failed = [] } = await this.#call({ QueueUrl: lot[0]!.url, Entries })
      for (const one of Failed) failed.set(Number(one.Id), new Error(`${one.Code}: ${one.Message ?? ''}`))
    } catch (error) {
      lot.forEach((_, i) => void failed.set(i, error))
    }
    lot.forEach((done, i) => {
      if (!failed.has(i)) done.settled()
      else if (++done.tries < maxTries) this.#push(done)
      else {
        this.#host.warn('a handled message could not be deleted from SQS, so it will be delivered again', failed.get(i))
        done.settled()
      }
    })
  }
}
