/** A message that waits for its commit as a row of the same transaction. */
export interface OutboxMessage {
  /** The plugin that delivers it: `queues`. */
  readonly sender: string
  /** Messages of one sender with the same key are delivered in their order. */
  readonly key: string
  /** What the sender needs to deliver it: JSON, and bytes. */
  readonly data: object
}

/** Delivers the `data` of one message; a failure is tried again, unless it is a `QueuePayloadError`. */
type Deliver = (data: never) => Promise<unknown>

const deliverers = new WeakMap<object, Map<string, Deliver>>()

/** Sets how a plugin of a server delivers the messages that it has put into the outbox. */
export function deliverFromOutbox(server: object, sender: string, deliver: Deliver): void {
  deliverers.set(server, (deliverers.get(server) ?? new Map<string, Deliver>()).set(sender, deliver))
}

/** How the plugins of a server deliver, by their names. */
export const deliverersOf = (server: object): ReadonlyMap<string, Deliver> => deliverers.get(server) ?? new Map()
