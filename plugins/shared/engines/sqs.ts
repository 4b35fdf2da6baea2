import type { Message, SQSClient } from '@aws-sdk/client-sqs'
import { OptionError, quoted, systemClock, type Timer, within } from '../../../kernel/index.ts'
import { peer } from '../environment/optional-package.ts'
import { memoizedIn } from '../values/memoize.ts'
import { foreignPause } from '../work/local-queue.ts'
import type { Batch, Consumer, Deliver, DriverHost, QueueCounts, QueueDriver } from './contract.ts'
import { QueueBatchError, QueueMissingError, QueuePayloadError } from './errors.ts'
import { metaOf, pauseAfter } from './meta.ts'
import type { SqsSettings } from './options.ts'
import { Poller } from './poller.ts'
import type { SqsTerms } from './publish-options.ts'
import { batches, bodyOf, maxBytes, maxEntries, metaIn, payloadOf, sizeOf, withMeta } from './sqs-body.ts'
import { type SqsDeletes, sqsDeletes } from './sqs-deletes.ts'
import { sqsOperations } from './sqs-operations.ts'
import type { Sdk, SqsCall, SqsResponse } from './sqs-types.ts'

interface Address {
  readonly topic: string
  readonly url: string
  /** How often SQS delivers a message before it moves it to the dead letter queue; `undefined` without one. */
  readonly maxReceives: number | undefined
  readonly deadLetterArn: string | undefined
  /** The limit of one message in this queue. */
  readonly maxBytes: number
}

/** Seconds after it was received for which SQS hides a message at most: 12 hours, less what the response may have taken. A longer pause is an error. */
const longestHidden = 43_100

const isQueueName = (name: string) => name.length <= 80 && /^[\w-]+(\.fifo)?$/.test(name)

/** SQS drops a message after the last attempt unless there is a dead letter queue, which takes it before that if its owner wants so. */
function checkAttempts(topic: string, { maxReceives, deadLetterArn }: Address, attempts: number): void {
  if (deadLetterArn !== undefined && maxReceives !== undefined && attempts <= maxReceives) return
  const takes =
    maxReceives === undefined
      ? 'nothing: the queue has no dead letter queue that could take the message afterwards. Give it a redrive policy'
      : `up to ${maxReceives}, the maxReceiveCount of the queue`
  throw OptionError(`publish.attempts for the queue "${topic}"`, String(attempts), takes)
}

const isFifo = ({ url }: Address) => url.endsWith('.fifo')
const attemptOf = (message: Message) => Number(message.Attributes?.ApproximateReceiveCount ?? 1)

/** Queues of SQS. They are not created here: their owner decides on their attributes. */
export class SqsDriver implements QueueDriver<SqsTerms> {
  readonly operations = () =>
    sqsOperations({
      call: (name, input) => this.#call(name, input),
      addresses: async (topic) => {
        const { url, deadLetterArn } = await this.#address(topic)
        return [url, deadLetterArn === undefined ? undefined : (await this.#deadLetters(deadLetterArn)).url]
      },
    })
  readonly #sdk: Sdk
  readonly #client: SQSClient
  readonly #config: SqsSettings
  readonly #host: DriverHost
  readonly #addresses = new Map<string, Promise<Address>>()
  readonly #polls = new Set<AbortController>()
  /** Keep messages hidden whose handlers run. */
  readonly #prolonging = new Set<Timer>()

  private constructor(sdk: Sdk, config: SqsSettings, host: DriverHost) {
    this.#sdk = sdk
    this.#config = config
    this.#host = host
    const { region, endpoint, credentials, client } = config
    const given = { ...(region && { region }), ...(endpoint && { endpoint }), ...(credentials && { credentials }) }
    // An emulator may return queue addresses with a host other than its own.
    const options = { ...given, ...(endpoint && { useQueueUrlAsEndpoint: false }) } as object
    this.#client = (client as SQSClient | undefined) ?? new sdk.SQSClient(options)
  }

  /** Loads the packages; connects to nothing yet. */
  static async load(config: SqsSettings, host: DriverHost): Promise<SqsDriver> {
    const feature = 'a queue of SQS (sqsQueue)'
    const sdk = await peer('@aws-sdk/client-sqs', () => import('@aws-sdk/client-sqs'), feature)
    return new SqsDriver(sdk as unknown as Sdk, config, host)
  }

  /** With its own timeout, because the deadline of `publish` aborts nothing. Rejects also if a client of the application throws. */
  async #call(
    name: SqsCall,
    input: object,
    ms = this.#config.publishTimeout,
    cut = new AbortController(),
  ): Promise<SqsResponse> {
    const response = this.#client.send(new this.#sdk[`${name}Command`](input), { abortSignal: cut.signal })
    const late = () => {
      cut.abort()
      return response
    }
    return within(response, ms, late, systemClock)
  }

  #address(topic: string): Promise<Address> {
    return memoizedIn(this.#addresses, topic, () => this.#look(topic))
  }

  async #look(topic: string): Promise<Address> {
    const { queueUrls } = this.#config
    const known = Object.hasOwn(queueUrls, topic) ? queueUrls[topic] : undefined
    if (known === undefined && !isQueueName(topic)) {
      const takes = 'up to 80 letters, digits, "_" and "-", with or without ".fifo", or an entry in sqs.queueUrls'
      throw OptionError('the name of a queue of SQS', quoted(topic), takes)
    }
    try {
      const url = known ?? (await this.#call('GetQueueUrl', { QueueName: topic })).QueueUrl!
      const AttributeNames = ['RedrivePolicy', 'MaximumMessageSize']
      const { Attributes } = await this.#call('GetQueueAttributes', { QueueUrl: url, AttributeNames })
      const policy = JSON.parse(Attributes?.RedrivePolicy ?? '{}')
      const maxReceives = policy.maxReceiveCount === undefined ? undefined : Number(policy.maxReceiveCount)
      const most = Number(Attributes?.MaximumMessageSize ?? maxBytes)
      return { topic, url, maxReceives, deadLetterArn: policy.deadLetterTargetArn, maxBytes: most }
    } catch (error) {
      const { name, code } = error as { name?: string; code?: string }
      if (!/QueueDoesNotExist|NonExistentQueue/.test(`${name} ${code}`)) throw error
      throw Object.assign(QueueMissingError(topic), { cause: error })
    }
  }

  async publish(topic: string, { texts, options: given, metas, signal }: Batch<SqsTerms>): Promise<string[]> {
    const bodies = texts.map(bodyOf)
    const address = await this.#address(topic)
    const { url, maxBytes: most } = address
    for (const meta of metas) if (meta?.attempts !== undefined) checkAttempts(topic, address, meta.attempts)
    // Without a group, the messages of the queue keep their order, as the queue is there for.
    const grouped = isFifo(address) ? given.map((one) => ({ MessageGroupId: topic, ...one })) : given
    const options = grouped.map((one, i) => withMeta(one, metas[i], bodies[i]!, most))
    const sizes = bodies.map((body, i) => sizeOf(body, options[i]))
    const tooLarge = sizes.find((size) => size > most)
    if (tooLarge !== undefined) {
      const why = `has ${tooLarge} bytes with its attributes, and the queue takes ${most} (its MaximumMessageSize). Store it elsewhere, and publish a reference to it`
      throw QueuePayloadError(topic, why)
    }
    signal.throwIfAborted()
    const [only] = bodies
    if (bodies.length === 1)
      return [(await this.#call('SendMessage', { QueueUrl: url, MessageBody: only, ...options[0] })).MessageId!]
    const ids = new Array<string | undefined>(bodies.length).fill(undefined)
    const refused: string[] = []
    for (const batch of batches(sizes)) {
      signal.throwIfAborted()
      const entries = batch.map((i) => ({ Id: String(i), MessageBody: bodies[i]!, ...(options[i] as object) }))
      const { Successful = [], Failed = [] } = await this.#call('SendMessageBatch', { QueueUrl: url, Entries: entries })
      for (const { Id, MessageId } of Successful) ids[Number(Id)] = MessageId
      for (const { Code, Message } of Failed) refused.push(`${Code} ${Message ?? ''}`.trim())
    }
    if (refused.length > 0)
      throw Object.assign(QueueBatchError(topic, refused.length, ids.length, refused[0]!), { ids })
    return ids as string[]
  }

  consume(topic: string, deliver: Deliver, { concurrency }: { concurrency: number }): Consumer {
    const { waitTimeSeconds, visibilityTimeout } = this.#config
    const deletes = sqsDeletes((input) => this.#call('DeleteMessageBatch', input, 5000), this.#host)
    const poller = new Poller({
      topic,
      concurrency,
      idle: 0,
      isSlow: true,
      host: this.#host,
      take: async (max, signal) => {
        const address = await this.#address(topic)
        const input = {
          QueueUrl: address.url,
          MaxNumberOfMessages: Math.min(max, maxEntries),
          WaitTimeSeconds: waitTimeSeconds,
          VisibilityTimeout: visibilityTimeout,
          MessageSystemAttributeNames: ['ApproximateReceiveCount'],
          MessageAttributeNames: ['All'],
        }
        // Not aborted when its subscriber stops: SQS may be delivering a message at that moment, and would hide it for a long time.
        const { Messages = [] } = await this.#receive(input, (waitTimeSeconds + 10) * 1000)
        if (!signal.aborted) return Messages.map((message) => () => this.#run(address, message, deliver, deletes))
        for (const message of Messages) {
          // Giving a message back costs an attempt; after the last one it would go to the dead letter queue, so it is handled.
          if (attemptOf(message) < (address.maxReceives ?? Number.POSITIVE_INFINITY))
            await this.#hide(address, message, 0)
          else await this.#run(address, message, deliver, deletes)
        }
        return []
      },
    })
    return { stop: () => poller.stop(), ended: poller.ended.then(() => deletes.flush()) }
  }

  /** Asks for messages; cut when the driver closes. */
  #receive(input: object, ms: number): Promise<SqsResponse> {
    const cut = new AbortController()
    this.#polls.add(cut)
    return this.#call('ReceiveMessage', input, ms, cut).finally(() => this.#polls.delete(cut))
  }

  async #run(address: Address, message: Message, deliver: Deliver, deletes: SqsDeletes): Promise<void> {
    const { visibilityTimeout, retryDelay } = this.#config
    let hidden: Promise<boolean> | undefined
    const prolong = systemClock.setInterval(() => {
      hidden = this.#hide(address, message, visibilityTimeout)
    }, visibilityTimeout * 500)
    this.#prolonging.add(prolong)
    const begun = systemClock.monotonic()
    const attempt = attemptOf(message)
    const meta = metaIn(message)
    const { attempts = address.maxReceives, backoff } = metaOf(meta, address.topic)
    const delivery = { id: message.MessageId!, attempt, attempts, meta }
    const outcome = await deliver(payloadOf(message.Body), delivery)
    systemClock.clear(prolong)
    this.#prolonging.delete(prolong)
    if (outcome.ok) return deletes.add(address.url, message.ReceiptHandle!)
    if (outcome.isForeign && !isFifo(address) && (await this.#giveBack(address, message, meta)))
      return deletes.add(address.url, message.ReceiptHandle!)
    const isLast = address.maxReceives !== undefined && attempt >= address.maxReceives
    if (outcome.final && !isLast && (await this.#park(address, message)))
      return deletes.add(address.url, message.ReceiptHandle!)
    const pause = outcome.isForeign ? foreignPause() : backoff && pauseAfter(attempt, backoff)
    // Otherwise it could have its effect after the following one.
    await hidden
    // One that is given up and cannot be moved comes at once otherwise, without end.
    const least = outcome.final && !isLast ? Math.max(retryDelay, visibilityTimeout) : retryDelay
    const wanted = pause === undefined || outcome.final ? least : pause / 1000
    const left = longestHidden - (systemClock.monotonic() - begun) / 1000
    await this.#hide(address, message, Math.ceil(Math.max(0, Math.min(wanted, left))))
  }

  /** Leaves a message to another process by a copy: SQS would count each time that this one receives it as an attempt. */
  #giveBack({ url, maxBytes: most }: Address, { MessageId, Body = '' }: Message, meta: object): Promise<boolean> {
    const delay = { DelaySeconds: Math.round(foreignPause() / 1000) }
    const options = withMeta(delay, { id: MessageId!, ...metaOf(meta) }, Body, most)
    return this.#try('a message for a newer process could not be given back, so it has lost an attempt', () =>
      this.#call('SendMessage', { QueueUrl: url, MessageBody: Body, ...options }),
    )
  }

  /** Moves a message that no further attempt can help to the dead letter queue, if there is one. */
  async #park({ deadLetterArn }: Address, { Body = '', MessageAttributes }: Message): Promise<boolean> {
    if (deadLetterArn === undefined) return false
    const attributes = MessageAttributes && { MessageAttributes }
    return this.#try(
      'a message could not be moved to its dead-letter queue in SQS, so it will be delivered again',
      async () => {
        const { url } = await this.#deadLetters(deadLetterArn)
        await this.#call('SendMessage', { QueueUrl: url, MessageBody: Body, ...attributes })
      },
    )
  }

  #deadLetters(arn: string): Promise<Address> {
    return this.#address(arn.split(':').at(-1)!)
  }

  #hide({ url }: Address, { ReceiptHandle }: Message, seconds: number): Promise<boolean> {
    return this.#try(
      'the retry delay of a message could not be set in SQS; SQS redelivers it after the visibility timeout of the queue',
      () => this.#call('ChangeMessageVisibility', { QueueUrl: url, ReceiptHandle, VisibilityTimeout: seconds }),
    )
  }

  /** Whether a call has succeeded; its failure is reported. */
  #try(failure: string, call: () => Promise<unknown>): Promise<boolean> {
    const failed = (error: unknown) => {
      this.#host.warn(failure, error)
      return false
    }
    return call().then(() => true, failed)
  }

  async counts(topic: string): Promise<QueueCounts> {
    const { url, deadLetterArn } = await this.#address(topic)
    const own = await this.#numbers(url)
    if (deadLetterArn === undefined) return { ...own, failed: 0 }
    return { ...own, failed: (await this.#numbers((await this.#deadLetters(deadLetterArn)).url)).waiting }
  }

  async #numbers(url: string): Promise<{ waiting: number; active: number; delayed: number }> {
    const names = [
      'ApproximateNumberOfMessages',
      'ApproximateNumberOfMessagesNotVisible',
      'ApproximateNumberOfMessagesDelayed',
    ] as const
    const { Attributes = {} } = await this.#call('GetQueueAttributes', { QueueUrl: url, AttributeNames: names })
    const [waiting, active, delayed] = names.map((name) => Number(Attributes[name] ?? 0)) as [number, number, number]
    return { waiting, active, delayed }
  }

  async ping(): Promise<void> {
    await this.#call('ListQueues', { MaxResults: 1 }).catch((error: unknown) => {
      // SQS responds. Nothing else needs the right to list queues, so a server without it must not count as unready.
      if (!/^AccessDenied/.test((error as Error).name)) throw error
    })
  }

  async close(): Promise<void> {
    for (const cut of this.#polls) cut.abort()
    // Of handlers for which closing no longer waits: their messages go to other workers.
    for (const timer of this.#prolonging) systemClock.clear(timer)
    if (this.#config.client === undefined) this.#client.destroy()
  }
}
