import { type Entry, type Present, partsOf, type Replay } from './buses/contract.ts'
import type { Channel } from './channel.ts'
import { type Frame, messageFrame, noticeFrame, shown } from './frames.ts'
import type { JoinedClient } from './joined.ts'

/** One client in one channel. */
export interface Member {
  readonly joined: JoinedClient
  readonly name: string
  readonly channel: Channel
  readonly params: Readonly<Record<string, string>>
  readonly user: string | undefined
  /** What has arrived while its history is read; `undefined` once it is in. */
  waiting: Entry[] | undefined
  /** Whether others were shown that it is there. */
  isPresent: boolean
}

/** Whether a message is for a client. Of a replay as of a live one: what was for one user is for no other later. */
function isFor({ joined: { client }, user }: Member, { to, except }: Entry): boolean {
  if (except === client.id) return false
  if (to === undefined) return true
  return to.client === undefined ? user !== undefined && to.user === user : to.client === client.id
}

/** All clients of this instance in one channel, and the place in its messages that they have reached. */
export class Room {
  readonly name: string
  readonly members = new Set<Member>()
  /** The last message that was passed on. */
  last = ''
  /** Resolves when messages arrive here; made again when the last member has left. */
  opening: Promise<void> | undefined = undefined
  /** What has arrived before `last` was known, or while missed messages are read. */
  #held: Entry[] | undefined = []
  #present: Map<string, Present> | undefined = undefined
  readonly #catchUp: (room: Room) => void
  readonly #remove: (member: Member) => void

  constructor(name: string, catchUp: (room: Room) => void, remove: (member: Member) => void) {
    this.name = name
    this.#catchUp = catchUp
    this.#remove = remove
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
    const seen = partsOf(this.last)
    const next = partsOf(entry.id)!
    if (seen?.epoch === next.epoch && next.number <= seen.number) return
    if (seen?.epoch !== next.epoch || next.number > seen.number + 1) {
      this.#held = [entry]
      this.#catchUp(this)
      return
    }
    this.#pass(entry)
  }

  #pass(entry: Entry): void {
    this.last = entry.id
    const frame = entry.kind === 'message' ? messageFrame(this.name, entry) : undefined
    for (const member of this.members) {
      if (member.waiting === undefined) this.#give(member, entry, frame)
      else member.waiting.push(entry)
    }
  }

  #give(member: Member, entry: Entry, frame: Frame | undefined): void {
    if (!isFor(member, entry)) return
    if (frame === undefined) this.#remove(member)
    else member.joined.send(this.name, frame)
  }

  /** What was missed, then what has arrived meanwhile. `isComplete` says whether that is all. */
  caughtUp({ entries, isComplete, last }: Replay): void {
    if (!isComplete) this.tell(noticeFrame('gap', { channel: this.name, after: this.last }))
    for (const entry of entries) this.#pass(entry)
    this.release(last)
  }

  /** Lets a member in, after what it has missed. */
  admit(member: Member, { entries, isComplete }: Replay, after: string | undefined): void {
    if (!isComplete) member.joined.send(this.name, noticeFrame('gap', { channel: this.name, after }))
    const given = new Set<string>()
    for (const entry of [...entries, ...(member.waiting ?? [])]) {
      if (given.has(entry.id)) continue
      given.add(entry.id)
      // An order of the past is not for who was let in after it.
      const isPast = entry.kind === 'remove' && entries.includes(entry)
      if (!isPast && this.members.has(member)) {
        this.#give(member, entry, entry.kind === 'message' ? messageFrame(this.name, entry) : undefined)
      }
    }
    member.waiting = undefined
  }

  /** To all who are in. */
  tell(frame: Frame): void {
    for (const member of this.members) if (member.waiting === undefined) member.joined.send(this.name, frame)
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
    this.tell(noticeFrame('presence', { channel: this.name, joined: [shown(present)], left: [] }))
  }

  /** The whole list; members learn what is new about it. */
  listed(list: readonly Present[]): void {
    const before = this.#present
    this.#present = new Map(list.map((one) => [one.id, one]))
    if (before === undefined) return
    const joined = list.filter(({ id }) => !before.has(id)).map(shown)
    const left = [...before.values()].filter(({ id }) => !this.#present!.has(id)).map(shown)
    if (joined.length + left.length > 0) this.tell(noticeFrame('presence', { channel: this.name, joined, left }))
  }
}
