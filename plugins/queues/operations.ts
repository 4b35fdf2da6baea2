import { didYouMean, type Logger } from '../../kernel/index.ts'
import {
  type MessageState,
  messageStates,
  type QueueCounts,
  type QueueDriver,
  type QueueOperations,
  type StoredMessage,
} from '../shared/engines/contract.ts'
import { QueueOperationError } from '../shared/engines/errors.ts'
import { metaOf } from '../shared/engines/meta.ts'
import { option } from '../shared/options/index.ts'
import { marksOf } from '../shared/schema/marks.ts'
import { hideMarked, hiding } from '../shared/values/marked.ts'
import { redact } from '../shared/values/redact.ts'
import type { Engines } from './engines.ts'
import type { SubscribedQueue } from './subscription.ts'

/** A message of a queue, as an operator sees it: known secrets in its payload are redacted. */
export interface QueueEntry extends Omit<StoredMessage, 'meta'> {
  /** The id that `publish` returned, if its publisher has chosen it. */
  readonly key?: string | undefined
  /** The version of its payload. */
  readonly version: number
  /** Milliseconds since 1970 after which it is given up. */
  readonly expiresAt?: number | undefined
  /** The id of the trace that published it. */
  readonly trace?: string | undefined
}

/** Which messages a change is about: those with these ids, or those that a function chooses; without either, all. */
export interface QueueSelection {
  /** Ids that `publish` returned, or those of the engine. */
  readonly ids?: readonly string[]
  /** Called for each failed message; `true` chooses it. */
  readonly where?: (message: QueueEntry) => boolean
}

/** Who makes a change, for the log. */
export interface QueueChange {
  /** A person or a program: `'ann@example.org'`. */
  readonly by?: string
}

const states = option.oneOf(...messageStates)
const listOptions = option.shape({
  state: states.default('failed'),
  from: option.int({ min: 0 }).default(0),
  limit: option.int({ min: 1, max: 1000 }).default(50),
})
const changeOptions = option.shape({
  ids: option.list(option.text()).optional(),
  where: option.fn<NonNullable<QueueSelection['where']>>('a function (message) => boolean'),
  by: option.name(),
})
const emptyOptions = option.shape({ states: option.list(states).default(['waiting', 'delayed']), by: option.name() })
const byOptions = option.shape({ by: option.name() })

/** How many messages are looked at together. */
const page = 500

/** Takes how many messages a step has changed. */
type Count = (changed: number) => void

/**
 * Looks after the messages of one queue. Each change is written to the log, with `by`.
 *
 * @example
 * const orders = server.services.get('queues').of('orders')
 * const failed = await orders.list({ state: 'failed', limit: 20 })
 * await orders.retry({ ids: failed.map(({ id }) => id), by: 'ann@example.org' })
 */
export class QueueOperator {
  /** The name of the queue. */
  readonly name: string
  /** `'memory'`, `'bullmq'`, `'pgboss'`, `'sqs'`, or the name of a custom engine. */
  readonly kind: string
  readonly #queue: SubscribedQueue
  readonly #engines: Engines

  /** @internal */
  constructor(queue: SubscribedQueue, engines: Engines) {
    this.name = queue.name
    this.kind = queue.kind
    this.#queue = queue
    this.#engines = engines
  }

  /** Returns the number of messages by state, and the age of the oldest that is ready. */
  counts(): Promise<QueueCounts> {
    return this.#ask((driver, signal) => driver.counts(this.name, signal))
  }

  /** Lists messages in one state, `failed` by default: those that will be taken first, or that failed last. Up to 1000, 50 by default. */
  async list(options?: { state?: MessageState; from?: number; limit?: number }): Promise<QueueEntry[]> {
    const { state, from, limit } = listOptions.parse(options, 'list')
    return (await this.#operate((engine) => engine.list(this.name, state, from, limit))).map((one) => this.#shown(one))
  }

  /** Returns one message; `undefined` if there is none with the id, for example because it is done. */
  async find(id: string): Promise<QueueEntry | undefined> {
    const found = await this.#operate((engine) => engine.find(this.name, id))
    return found && this.#shown(found)
  }

  /** Gives failed messages all their attempts again; returns how many. */
  async retry(given?: QueueSelection & QueueChange): Promise<number> {
    const { by, ...chosen } = changeOptions.parse(given, 'retry')
    return this.#noting('sent again', by, (count) => this.#each('failed', chosen, 'retry', count))
  }

  /** Removes failed messages, or with `ids` those in any state that are not being handled; returns how many. */
  async remove(given?: QueueSelection & QueueChange): Promise<number> {
    const { by, ...chosen } = changeOptions.parse(given, 'remove')
    return this.#noting('removed', by, (count) => this.#each('failed', chosen, 'remove', count))
  }

  /** Removes all messages in these states, by default those that are waiting or delayed; returns how many. */
  async empty(given?: { states?: readonly MessageState[] } & QueueChange): Promise<number> {
    const { by, states: chosen } = emptyOptions.parse(given as never, 'empty')
    return this.#noting('removed', by, async (count) => {
      for (const state of chosen) await this.#each(state, {}, 'remove', count)
    })
  }

  /** Stops the delivery of messages to all processes, until `resume`. Those in progress are finished. */
  async pause(given?: QueueChange): Promise<void> {
    const { by } = byOptions.parse(given, 'pause')
    await this.#operate((engine) => engine.pause(this.name))
    this.#log(by).warn(`the queue "${this.name}" is paused`)
  }

  /** Resumes the delivery of messages. */
  async resume(given?: QueueChange): Promise<void> {
    const { by } = byOptions.parse(given, 'resume')
    await this.#operate((engine) => engine.resume(this.name))
    this.#log(by).warn(`the queue "${this.name}" continues`)
  }

  /** Whether the delivery is stopped; `false` for an engine that cannot stop it. */
  isPaused(): Promise<boolean> {
    return this.#ask(async (driver, signal) => (await driver.operations(signal)?.isPaused(this.name)) ?? false)
  }

  /** Makes a change of the messages in a state that are chosen, page by page. */
  async #each(
    state: MessageState,
    { ids: known, where = () => true }: QueueSelection,
    what: 'retry' | 'remove',
    count: Count,
  ): Promise<void> {
    if (known !== undefined) {
      for (let i = 0; i < known.length; i += page)
        count(await this.#operate((engine) => engine[what](this.name, known.slice(i, i + page))))
      return
    }
    // A message that fails again at once is not chosen a second time.
    const seen = new Set<string>()
    for (let from = 0; ; ) {
      const some = await this.#operate((engine) => engine.list(this.name, state, from, page))
      const chosen = some.filter((one) => !seen.has(one.id) && where(this.#shown(one))).map(({ id }) => id)
      for (const id of chosen) seen.add(id)
      const done = chosen.length === 0 ? 0 : await this.#operate((engine) => engine[what](this.name, chosen))
      count(done)
      // Those that are no longer in the list have moved the rest forward.
      from += some.length - done
      if (some.length < page) return
    }
  }

  /** Writes to the log how many messages a change was about, also if the engine has failed in the middle of it. */
  async #noting(what: string, by: string | undefined, change: (count: Count) => Promise<void>): Promise<number> {
    let messages = 0
    try {
      await change((changed) => {
        messages += changed
      })
      return messages
    } finally {
      const many = messages === 1 ? '1 message' : `${messages} messages`
      if (messages > 0) this.#log(by, { messages }).warn(`${many} of the queue "${this.name}": ${what}`)
    }
  }

  #log(by: string | undefined, fields: object = {}): Logger {
    return this.#engines.log.child({ queue: this.name, ...(by !== undefined && { by }), ...fields })
  }

  /** A message without secrets: those that its schema marks and, by their names, all others. */
  #shown({ meta: given, payload, errors, ...rest }: StoredMessage): QueueEntry {
    const { id: key, version = 1, expires: expiresAt, traceparent } = metaOf(given, this.name)
    const marks = this.#queue.schema && marksOf(this.#queue.schema)
    const discreet = hiding(marks?.valuesIn(payload) ?? [])
    // The schema is that of the present version.
    const isKnown = marks !== undefined && version === this.#queue.version
    const hidden = isKnown ? marks.hide(payload) : hideMarked(payload)
    return {
      ...rest,
      payload: redact(hidden),
      errors: errors.map(({ message, stack }) => ({ message: discreet(message), stack: stack && discreet(stack) })),
      key,
      version,
      expiresAt,
      trace: traceparent?.split('-')[1],
    }
  }

  #operate<Result>(work: (engine: QueueOperations) => Promise<Result>): Promise<Result> {
    return this.#ask((driver, signal) => {
      const operations = driver.operations(signal)
      if (operations !== undefined) return work(operations)
      const what = `the engine "${this.kind}" of the queue "${this.name}" has no operations`
      throw QueueOperationError(`${what}. Give it the member "operations"`)
    })
  }

  #ask<Result>(work: (driver: QueueDriver<object>, signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#engines.ask(this.#queue, async (driver, signal) => work(driver, signal))
  }
}

/** The queue of a name. */
export function findQueue<One extends SubscribedQueue>(name: string, all: readonly One[]): One {
  const found = all.filter((one) => one.name === name)
  if (found.length === 1) return found[0]!
  const names = all.map((one) => one.name)
  const why =
    found.length === 0
      ? `there is no queue "${name}".${didYouMean(name, names)}`
      : `there are queues "${name}" of ${found.map(({ kind }) => kind).join(' and ')}. Give one another name`
  throw QueueOperationError(why)
}
