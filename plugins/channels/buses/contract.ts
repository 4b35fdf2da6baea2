/** The only recipient of a message. */
export interface Recipient {
  /** All clients of this user. */
  readonly user?: string
  /** The client with this id. */
  readonly client?: string
}

/** One message of a channel, or one order to remove a client. Entries arrive in the same sequence on all instances. */
export interface Entry {
  /** An epoch and a number, `k3f9-17`: the numbers of one epoch have no gaps. */
  readonly id: string
  /** The payload as JSON; `''` for an order. */
  readonly body: string
  /** A message, or an order to remove a client. */
  readonly kind: 'message' | 'remove'
  /** The only recipient. Default: everyone in the channel. */
  readonly to?: Recipient
  /** The client that does not receive it. */
  readonly except?: string
  /** Marks the client that has published it, who does not receive it. */
  readonly author?: string
}

/** What others see of a client: its id, its user, and the result of the option `presence`. */
export interface PresentClient {
  /** The id of the client; a user with two devices is two clients. */
  readonly id: string
  /** The user that the option `user` returned for the client. */
  readonly user?: string | undefined
  /** The result of the option `presence` for the client; other clients see it. */
  readonly data: unknown
}

/** The history that a channel keeps for clients that reconnect. */
export interface Keeping {
  readonly messages: number
  /** Bytes of all payloads together. */
  readonly bytes: number
  readonly ms: number
}

/** A part of the history. */
export interface Replay {
  readonly entries: readonly Entry[]
  /** Whether all messages since the requested id are here. */
  readonly isComplete: boolean
  /** The last message of the channel. */
  readonly last: string
  /** Milliseconds since a client was last removed; `Infinity` if no removal is known. */
  readonly removedMs: number
}

export interface BusEvents {
  entry(name: string, entry: Entry): void
  /** A client has entered, or has left if `present` is `undefined`. */
  present(name: string, id: string, present: PresentClient | undefined): void
  /** The connection was lost and is up again: messages may be missing. */
  resumed(): void
}

/**
 * Carries the messages of channels between the instances of an application.
 *
 * The ids of one channel are an epoch and a number, `k3f9-17`, and the numbers have no gaps: a client that has seen `k3f9-17` and then
 * receives `k3f9-19` knows that one message is missing. A bus that has lost its numbers begins another epoch. A channel that has never had
 * a message is at `0-0` and takes no memory; otherwise a client that joins one name after another would fill the store.
 */
export interface Bus {
  /** Hubs that each receive all messages of the others have the same key: a message is published once per key. */
  readonly key: string
  open(events: BusEvents): Promise<void>
  /** Makes `entry` and `present` report events of this name from then on. */
  subscribe(name: string): Promise<void>
  unsubscribe(name: string): Promise<void>
  publish(name: string, entry: Omit<Entry, 'id'>, keeping: Keeping): Promise<string>
  /**
   * Returns the messages after an id; without an id, only `last`. An id of this instance (`'own'`) that is ahead of the store's numbers
   * shows that the store has lost some, and begins another epoch; an id sent by a client proves nothing. After an id of another epoch,
   * this instance reads the whole history, all of which is new to it; a client, which may have made up the id, only learns of the gap.
   */
  after(name: string, id?: string, whose?: 'own'): Promise<Replay>
  enter(name: string, present: PresentClient): Promise<void>
  exit(name: string, id: string): Promise<void>
  present(name: string): Promise<readonly PresentClient[]>
  /** Rejects unless the store responds; a bus in this process has none. */
  check?(): Promise<void>
  close(): Promise<void>
}

/** Returns the epoch and the number of an id; `undefined` for a malformed id. */
export function partsOf(id: string): { readonly epoch: string; readonly number: number } | undefined {
  const parts = /^([a-z0-9]{1,32})-(\d{1,15})$/.exec(id)
  return parts === null ? undefined : { epoch: parts[1]!, number: Number(parts[2]) }
}

/** The place of a channel without messages. */
export const nothingYet = '0-0'

/** The history of a channel of which no message is known. A client that has seen one has missed others. */
export const emptyReplay = (last: string, seen?: string): Replay => ({
  entries: [],
  isComplete: seen === undefined || seen === nothingYet,
  last,
  removedMs: Number.POSITIVE_INFINITY,
})

/** Whether a message comes directly after the last one seen, was already seen, or follows missing ones. */
export function placeOf(id: string, last: string): 'seen' | 'next' | 'gap' {
  const [of, seen] = [partsOf(id), partsOf(last)]
  if (of === undefined || seen === undefined) return 'gap'
  if (of.epoch !== seen.epoch) return last === nothingYet && of.number === 1 ? 'next' : 'gap'
  if (of.number <= seen.number) return 'seen'
  return of.number === seen.number + 1 ? 'next' : 'gap'
}

/** Returns the place directly before a message. */
export function placeBefore(id: string): string {
  const { epoch, number } = partsOf(id)!
  return `${epoch}-${number - 1}`
}
