import { deferred } from '../values/promises.ts'
import type { Carrier } from '../work/carrier.ts'
import type { DriverHost, QueueCounts, QueueDriver, QueueOperations } from './contract.ts'
import type { PublishOptions } from './publish-options.ts'

/** The data of a delivery for a handler of a custom engine, as far as the engine knows it. */
export interface CustomDelivery {
  /** The id of the message, the same at each attempt. */
  readonly id?: string
  /** Which attempt this is, 1 for the first. */
  readonly attempt?: number
  /** How many attempts there are at most. */
  readonly attempts?: number
  /** The value of `sent.carrier` from `publish`. */
  readonly carrier?: Readonly<Carrier>
}

/**
 * Handles one message; a rejection is a failed attempt, unless its code is `QueueVersionError`: then a newer process published the message, so
 * give it back, and offer it again after a second.
 */
export type CustomHandler = (payload: unknown, delivery?: CustomDelivery) => Promise<void>

/**
 * An engine of your own, for `createQueue`.
 *
 * `subscribe` starts calling the handler; `unsubscribe` stops calling that very handler. The effect of a handler's rejection is
 * up to the engine.
 *
 * @example
 * const handlers = new Map<string, Set<CustomHandler>>()
 * const local: GenericPubSub = {
 *   async publish(topic, payload) {
 *     for (const handler of handlers.get(topic) ?? []) await handler(payload)
 *     return { id: crypto.randomUUID() }
 *   },
 *   async subscribe(topic, handler) {
 *     handlers.set(topic, (handlers.get(topic) ?? new Set()).add(handler))
 *   },
 *   async unsubscribe(topic, handler) {
 *     handlers.get(topic)?.delete(handler)
 *   },
 * }
 */
export interface GenericPubSub<Options = object> {
  /** The key of its settings in the configuration; default: the name of the queue. */
  readonly name?: string
  /** Sends one message and resolves with its `id`. `sent` comes only if there is something to send along; an engine that returns its carrier with each delivery lets traces reach handlers. */
  publish(
    topic: string,
    payload: unknown,
    options?: Options,
    sent?: { readonly carrier: Readonly<Carrier> },
  ): Promise<{ id: string }>
  /** Hands every message of a topic to the handler, `concurrency` at once; a handler that rejects has failed. */
  subscribe(topic: string, handler: CustomHandler, options?: { readonly concurrency: number }): Promise<unknown>
  /** Stops handing messages to the handler; resolves once no more will reach it. */
  unsubscribe(topic: string, handler: CustomHandler): Promise<unknown>
  /**
   * The portable options of `queue(name)` that the engine can have, such as `['attempts', 'delay']`; others are refused. `publish` receives them,
   * except for `timeout` and `expireIn`, which are in `sent.carrier`: an engine that gives it back to the handler can have both, and
   * versions of payloads. One that has `id` has `repeat` as well, and the others with the plugin locks.
   */
  readonly supports?: readonly Exclude<keyof PublishOptions, 'repeat'>[]
  /** What an operator can do with its messages. */
  readonly operations?: QueueOperations
  /** The number of messages by state. */
  counts?(topic: string): Promise<QueueCounts>
  /** Rejects when the engine does not respond. */
  ping?(): Promise<unknown>
  /** Closes connections; called when the server has closed. */
  close?(): Promise<unknown>
}

/** The engine of a queue. */
export interface EngineRef {
  /** A kind, or the name of a custom engine. */
  readonly kind: string
  readonly pubsub: GenericPubSub | undefined
  /** The engine that the application has named, in a test whose queues are in memory. */
  readonly standsFor?: EngineRef | undefined
}

/** A queue on its engine. */
export interface QueueRef extends EngineRef {
  readonly name: string
}

/** A queue as it was declared: without an engine, the configuration decides. */
export type Unresolved<Queue extends EngineRef> = Omit<Queue, 'kind'> & { readonly kind: string | undefined }

/** Adapts an engine of the application to the contract of all drivers. */
export function customDriver(pubsub: GenericPubSub, host: DriverHost): QueueDriver<object> {
  return {
    publish(topic, { texts, options, metas }) {
      return Promise.all(
        texts.map(async (text, i) => {
          const sent: [] | [{ carrier: Readonly<Carrier> }] = metas[i] === undefined ? [] : [{ carrier: metas[i] }]
          return (await pubsub.publish(topic, JSON.parse(text), options[i], ...sent)).id
        }),
      )
    },
    consume(topic, deliver, options) {
      const running = new Set<Promise<unknown>>()
      const handler: CustomHandler = async (payload, { id = '', attempt = 1, attempts, carrier } = {}) => {
        const delivery = deliver(payload, { id, attempt, attempts, meta: carrier })
        running.add(delivery)
        const outcome = await delivery.finally(() => running.delete(delivery))
        if (!outcome.ok) throw outcome.error
      }
      const begun = (async () => void (await pubsub.subscribe(topic, handler, options)))()
      const { promise: ended, resolve: end } = deferred()
      const stop = async () => {
        try {
          await begun.catch(() => {})
          await pubsub.unsubscribe(topic, handler)
        } catch (error) {
          host.warn(`the queue "${topic}": unsubscribe failed`, error)
        }
        void Promise.allSettled(running).then(() => end())
      }
      return { stop, ended, begun }
    },
    operations: () => pubsub.operations,
    counts: async (topic) => (await pubsub.counts?.(topic)) ?? { waiting: 0, active: 0, delayed: 0, failed: 0 },
    ping: async () => void (await pubsub.ping?.()),
    close: async () => void (await pubsub.close?.()),
  }
}
