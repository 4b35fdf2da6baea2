import { type Entry, type Present, placeBefore, placeOf, type Replay } from './buses/contract.ts'
import type { Channel } from './channel.ts'
import { type Frame, messageFrame, noticeFrame, shown } from './frames.ts'
import type { JoinedClient } from './joined.ts'

/** One client in one channel. */
export interface Member {
  readonly joined: JoinedClient
  readonly name: string
  readonly channel: Channel
  readonly params: Readonly<Record<string, string>>
  /** The user as which it has joined. */
  readonly user: string | undefined
  /** Resolves when it is in, to whether it still is; rejects where it is refused. */
  admission: Promise<boolean> | undefined
  /** What has arrived while its history is read; `undefined` once it is in. */
  waiting: Entry[] | undefined
  /** The last message that it has from the history. The same one may arrive after that from the connection that listens. */
  reached: string | undefined
  /** Whether others were shown that it is there. */
  isPresent: boolean
}

interface Surroundings {
  catchUp(room: Room): void
  remove(member: Member): void
  userOf(member: Member): string | undefined
}

/** All clients of this instance in one channel, and the place in its messages that they have reached. */
export class Room {
  readonly name: string
  readonly members = new Set<Member>()
  /** The last message that was passed on. */
  last = ''
  /** Resolves when messages arrive here; made again when the last member has left. */
  opening: Promise<void> | undefined = undefined
  /** When someone was last removed: what `join` has said of a client before that may no longer hold. */
  removedAt = Number.NEGATIVE_INFINITY
  /** Messages may be missing, and are read; a second time where the connection was lost while they were. */
  isStale = false
  isCatchingUp = false
  /** What has arrived before `last` was known, or while missed messages are read. */
  #held: Entry[] | undefined = []
  #present: Map<string, Present> | undefined = undefined
  /** Who has come and gone while the list is read, which may be older or newer than that; for each reading. */
  readonly #noticed = new Set<[id: string, present: Present | undefined][]>()
  readonly #around: Surroundings

  constructor(name: string, around: Surroundings) {
    this.name = name
    this.#around = around
  }

  /** Holds what arrives until `release`. */
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
    if (this.#held !== undefined) {
      this.#held.push(entry)
      return
    }
    const place = placeOf(entry.id, this.last)
    if (place === 'seen') return
    if (place === 'next') {
      this.#pass(entry)
      return
    }
    this.#held = [entry]
    this.#around.catchUp(this)
  }

  #pass(entry: Entry): void {
    this.last = entry.id
    if (entry.kind === 'remove') this.removedAt = performance.now()
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
    if (frame === undefined) this.#around.remove(member)
    else member.joined.send(this.name, frame)
  }

  /** Whether a message is for a client. Of a replay as of a live one: what was for one user is for no other later. */
  #isFor(member: Member, { kind, to, except }: Entry): boolean {
    const { id } = member.joined.client
    if (except === id) return false
    if (to === undefined) return true
    if (to.client !== undefined) return to.client === id
    // Handlers may have assigned another user to the socket. It receives what is for the user that it is now, and has to go as either.
    return (kind === 'remove' && member.user === to.user) || this.#around.userOf(member) === to.user
  }

  /** What was missed, then what has arrived meanwhile. `isComplete` says whether that is all. */
  caughtUp(replay: Replay): void {
    if (!replay.isComplete) this.tell(this.#gap(replay, this.last))
    for (const entry of replay.entries) this.#pass(entry)
    this.release(replay.last)
  }

  /** With the place from which on messages follow: who comes back after that must not be sent the gap again. */
  #gap({ entries, last }: Replay, after: string | undefined): Frame {
    const [first] = entries
    return noticeFrame('gap', { channel: this.name, after, id: first === undefined ? last : placeBefore(first.id) })
  }

  /** Lets a member in, after what it has missed. */
  admit(member: Member, replay: Replay, after: string | undefined): void {
    if (!replay.isComplete) member.joined.send(this.name, this.#gap(replay, after))
    // An order of the past is not for who was let in after it.
    const missed = replay.entries.filter(({ kind }) => kind === 'message')
    const waiting = member.waiting ?? []
    member.waiting = undefined
    this.#giveAll(member, missed)
    // What waits may be among what was missed. The orders are not of the past: `join` was asked before they came.
    if (after !== undefined) member.reached = replay.last
    this.#giveAll(member, waiting)
  }

  #giveAll(member: Member, entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (!this.members.has(member)) return
      this.#give(member, entry, entry.kind === 'message' ? messageFrame(this.name, entry) : undefined)
    }
  }

  /** To all who are in, but for one client. */
  tell(frame: Frame, except?: string): void {
    for (const { waiting, joined } of this.members)
      if (waiting === undefined && joined.client.id !== except) joined.send(this.name, frame)
  }

  // — who is there —

  /** Whether this room knows who is there. */
  get knowsPresent(): boolean {
    return this.#present !== undefined
  }

  get present(): readonly Present[] {
    return [...(this.#present?.values() ?? [])]
  }

  /** Someone has entered or left. */
  noticed(id: string, present: Present | undefined): void {
    for (const list of this.#noticed) list.push([id, present])
    if (this.#present === undefined) return
    const before = this.#present.get(id)
    if (present === undefined) {
      if (before === undefined) return
      this.#present.delete(id)
      this.tell(noticeFrame('presence', { channel: this.name, joined: [], left: [shown(before)] }))
      return
    }
    this.#present.set(id, present)
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(present)) return
    // A client that has just joined has itself on the list that it was sent.
    const notice = noticeFrame('presence', { channel: this.name, joined: [shown(present)], left: [] })
    this.tell(notice, before === undefined ? id : undefined)
  }

  /** Reads the whole list; members learn what is new about it. */
  async list(read: () => Promise<readonly Present[]>): Promise<void> {
    const noticed: [id: string, present: Present | undefined][] = []
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

  #listed(now: Map<string, Present>): void {
    const before = this.#present
    this.#present = now
    if (before === undefined) return
    const joined = [...now.values()].filter(({ id }) => !before.has(id)).map(shown)
    const left = [...before.values()].filter(({ id }) => !now.has(id)).map(shown)
    if (joined.length + left.length > 0) this.tell(noticeFrame('presence', { channel: this.name, joined, left }))
  }
}
