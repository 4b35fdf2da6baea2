import { clock } from '../../kernel/index.ts'
import type { Tenant } from '../shared/values/tenants.ts'
import { type Entry, type PresentClient, placeBefore, placeOf, type Replay } from './buses/contract.ts'
import type { ChannelClient, DeclaredChannel } from './declared.ts'
import { type Frame, messageFrame, noticeFrame } from './frames.ts'

/** One client with the channels that it is in. */
export interface JoinedClient {
  readonly client: ChannelClient
  /** Whose channels it joins: that of the request that has opened its connection. */
  readonly tenant?: Tenant | undefined
  /** By the name of the channel; includes a member for which `join` is still deciding. */
  readonly members: Map<string, Member>
  /** Whether it can be in channels: until it has left, and its last message is handled. */
  readonly isHere: boolean
  send(name: string, frame: Frame): void
  /** Called when the client is no longer in the channel for a reason other than its own request. */
  dropped?(): void
}

/** One client in one channel. */
export interface Member {
  readonly joined: JoinedClient
  readonly name: string
  /** The name on the bus: that of its tenant. */
  readonly key: string
  readonly channel: DeclaredChannel
  readonly params: Readonly<Record<string, string>>
  /** The user at the time of the join. */
  readonly user: string | undefined
  /** Marks the messages that it publishes, over reconnections too: it does not receive them itself. A secret of the client. */
  readonly author: string | undefined
  /** Resolves at the end of the admission with whether the client is still in; rejects if it is refused. */
  admission: Promise<boolean> | undefined
  /** The messages that arrive while the member's history is read; `undefined` once it is in. */
  waiting: Entry[] | undefined
  /** The last message that it received from the history. The listening connection may deliver the same message again later. */
  reached: string | undefined
  /** Whether others have been notified of this member. */
  isPresent: boolean
}

export interface RoomEvents {
  /** Messages may be missing. */
  catchUp(room: Room): void
  /** An order to remove this member has arrived. */
  removed(member: Member): void
  /** Returns the current user of a member. */
  userOf(member: Member): string | undefined
}

/** All clients of this instance in one channel, and the place in its messages that they have reached. */
export class Room {
  readonly name: string
  readonly key: string
  readonly members = new Set<Member>()
  /** The last message that was passed on. */
  last = ''
  /** Resolves once messages arrive here; a room whose last member has left is replaced by a new one. */
  opening: Promise<void> | undefined = undefined
  /** When a client was last removed: earlier decisions of `join` may be outdated. */
  removedAt = Number.NEGATIVE_INFINITY
  /** Whether messages may be missing and have to be read, once more if the connection is lost during the reading. */
  isStale = false
  isCatchingUp = false
  /** The messages that arrive before `last` is known, or while missed messages are read. */
  #held: Entry[] | undefined = []
  #present: Map<string, PresentClient> | undefined = undefined
  /** The clients that come and go while the list is read, one array for each reading: the list may be older or newer than they are. */
  readonly #noticed = new Set<[id: string, present: PresentClient | undefined][]>()
  readonly #around: RoomEvents

  constructor({ name, key }: Pick<Member, 'name' | 'key'>, around: RoomEvents) {
    this.name = name
    this.key = key
    this.#around = around
  }

  /** Holds arriving messages until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(last: string): void {
    this.last = last
    const held = this.#held ?? []
    this.#held = undefined
    for (const entry of held) this.entry(entry)
  }

  entry(entry: Entry): void {
    if (this.#held !== undefined) return void this.#held.push(entry)
    const place = placeOf(entry.id, this.last)
    if (place === 'seen') return
    if (place === 'next') return void this.#pass(entry)
    this.#held = [entry]
    this.#around.catchUp(this)
  }

  #pass(entry: Entry): void {
    this.last = entry.id
    if (entry.kind === 'remove') this.removedAt = clock.monotonic()
    const frame = entry.kind === 'message' ? messageFrame(this.name, entry) : undefined
    for (const member of this.members) {
      if (member.waiting === undefined) this.#give(member, entry, frame)
      else member.waiting.push(entry)
    }
  }

  #give(member: Member, entry: Entry, frame: Frame | undefined): void {
    if (member.reached !== undefined && frame !== undefined) {
      if (placeOf(entry.id, member.reached) === 'seen') return
      member.reached = undefined
    }
    if (!this.#isFor(member, entry)) return
    if (frame === undefined) this.#around.removed(member)
    else member.joined.send(this.name, frame)
  }

  /** Whether a message is for a client, in a replay as well as live: a message for one user never reaches another. */
  #isFor(member: Member, { kind, to, except, author }: Entry): boolean {
    const { id } = member.joined.client
    if (except === id || (author !== undefined && author === member.author)) return false
    if (to === undefined) return true
    if (to.client !== undefined) return to.client === id
    // Handlers may have assigned another user to the socket. It receives messages for its current user, and is removed as either user.
    return (kind === 'remove' && member.user === to.user) || this.#around.userOf(member) === to.user
  }

  /** Passes on the missed messages, then those that have arrived meanwhile; notifies of a gap if some can no longer be read. */
  caughtUp(replay: Replay): void {
    if (!replay.isComplete) this.broadcast(this.#gap(replay, this.last))
    for (const entry of replay.entries) this.#pass(entry)
    this.release(replay.last)
  }

  /** Contains the place after which messages follow: a client that reconnects from there must not receive the gap again. */
  #gap({ entries, last }: Replay, after: string | undefined): Frame {
    const [first] = entries
    return noticeFrame('gap', {
      channel: this.name,
      after: after?.slice(0, 100),
      id: first === undefined ? last : placeBefore(first.id),
    })
  }

  /** Lets a member in, after the messages that it has missed. */
  admit(member: Member, replay: Replay, after: string | undefined): void {
    if (!replay.isComplete) member.joined.send(this.name, this.#gap(replay, after))
    // Orders in the history are left out: they do not apply to a client that was admitted after them.
    const missed = replay.entries.filter(({ kind }) => kind === 'message')
    const waiting = member.waiting ?? []
    member.waiting = undefined
    this.#giveAll(member, missed)
    // Some waiting entries may also be among the missed ones. Waiting orders do apply: they came after `join` was called.
    if (after !== undefined) member.reached = replay.last
    this.#giveAll(member, waiting)
  }

  #giveAll(member: Member, entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (!this.members.has(member)) return
      this.#give(member, entry, entry.kind === 'message' ? messageFrame(this.name, entry) : undefined)
    }
  }

  /** Sends a frame to all members, except one client if given. */
  broadcast(frame: Frame, except?: string): void {
    for (const { waiting, joined } of this.members)
      if (waiting === undefined && joined.client.id !== except) joined.send(this.name, frame)
  }

  // — presence —

  /** Whether this room knows its present clients. */
  get knowsPresent(): boolean {
    return this.#present !== undefined
  }

  get present(): readonly PresentClient[] {
    return [...(this.#present?.values() ?? [])]
  }

  /** Records that a client has entered or left (`undefined`), and notifies the members. */
  noticed(id: string, present: PresentClient | undefined): void {
    for (const list of this.#noticed) list.push([id, present])
    if (this.#present === undefined) return
    const before = this.#present.get(id)
    if (present === undefined) {
      if (before === undefined) return
      this.#present.delete(id)
      this.broadcast(noticeFrame('presence', { channel: this.name, joined: [], left: [before] }))
      return
    }
    this.#present.set(id, present)
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(present)) return
    // A client that has just joined is already in the list that it received.
    const notice = noticeFrame('presence', { channel: this.name, joined: [present], left: [] })
    this.broadcast(notice, before === undefined ? id : undefined)
  }

  /** Reads the whole list; members are notified of the differences. */
  async list(read: () => Promise<readonly PresentClient[]>): Promise<void> {
    const noticed: [id: string, present: PresentClient | undefined][] = []
    this.#noticed.add(noticed)
    try {
      const now = new Map((await read()).map((one) => [one.id, one]))
      for (const [id, present] of noticed) {
        if (present === undefined) now.delete(id)
        else now.set(id, present)
      }
      this.#listed(now)
    } finally {
      this.#noticed.delete(noticed)
    }
  }

  #listed(now: Map<string, PresentClient>): void {
    const before = this.#present
    this.#present = now
    if (before === undefined) return
    const joined = [...now.values()].filter(({ id }) => !before.has(id))
    const left = [...before.values()].filter(({ id }) => !now.has(id))
    if (joined.length + left.length > 0) this.broadcast(noticeFrame('presence', { channel: this.name, joined, left }))
  }
}

/** Returns the place in the messages of a channel after which a new member receives them. */
export function startOf({ waiting }: Member, room: Room): string {
  const first = waiting?.[0]
  return first === undefined ? room.last : placeBefore(first.id)
}
