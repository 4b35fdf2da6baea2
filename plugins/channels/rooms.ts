import { clock, type Logger, systemClock } from '../../kernel/index.ts'
import { madeIn } from '../shared/values/memoize.ts'
import type { Bus, BusEvents, Entry, PresentClient } from './buses/contract.ts'
import { type Member, Room, type RoomEvents } from './room.ts'

/** Counters of the channels of a server. */
export interface ChannelCounts {
  /** Channels that have clients on this instance. */
  channels: number
  /** The clients in them; a client is counted once for each channel that it is in. */
  members: number
  /** Messages that this instance has published. */
  published: number
  /** Joins, and messages of clients, that were refused. */
  refused: number
  /** Number of times that missed messages could not be recovered. */
  gaps: number
}

/** What the rooms need from their hub. */
interface Surroundings extends Omit<RoomEvents, 'catchUp'> {
  readonly bus: Bus
  readonly counts: ChannelCounts
  readonly log: Logger
  /** Calls the rule `join` for a member again, and removes the member unless the result is `true`. */
  askAgain(member: Member): Promise<void>
}

/** Milliseconds before a failed read of missed messages is repeated: the first pause, and the longest. */
const pause = { first: 500, longest: 5_000 }

/** The number of members for which the rule `join` is called simultaneously: all members of a large channel would overload a database. */
const askedAtOnce = 50

/** The rooms of one server: the channels of its clients, and the events of the bus about them. */
export class Rooms implements BusEvents {
  readonly #hub: Surroundings
  readonly #rooms = new Map<string, Room>()
  #isClosed = false
  #isFailing = false

  constructor(hub: Surroundings) {
    this.#hub = hub
  }

  /** Ends the presence of all members; no rule is called any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    const left = [...this.#rooms.values()].flatMap((room) => [...room.members])
    await Promise.all(left.map((member) => this.#exit(member)))
  }

  /** Lets a member in as waiting: messages that arrive are kept for it until it is admitted. */
  async enter(member: Member): Promise<Room> {
    const room = madeIn(this.#rooms, member.key, () => {
      this.#hub.counts.channels++
      return new Room(member, { ...this.#hub, catchUp: (one) => void this.#catchUp(one) })
    })
    room.members.add(member)
    this.#hub.counts.members++
    room.opening ??= this.#open(room)
    await room.opening
    return room
  }

  async #open(room: Room): Promise<void> {
    await this.#hub.bus.subscribe(room.key)
    // After `subscribe`: messages that are published between the two calls are held.
    const { last, removedMs } = await this.#hub.bus.after(room.key)
    room.removedAt = clock.monotonic() - removedMs
    room.release(last)
    // The connection was lost after the history had been read.
    if (room.isStale) void this.#catchUp(room)
  }

  leave(member: Member): void {
    const { name, key } = member
    const room = this.#rooms.get(key)
    if (room?.members.delete(member) !== true) return
    this.#hub.counts.members--
    void this.#exit(member)
    if (room.members.size > 0) return
    this.#rooms.delete(key)
    this.#hub.counts.channels--
    this.#hub.bus.unsubscribe(key).catch((error: unknown) => this.#failed(name, error))
  }

  // — presence —

  async presentIn(room: Room): Promise<readonly PresentClient[]> {
    if (!room.knowsPresent) await room.list(() => this.#hub.bus.present(room.key))
    return room.present
  }

  async show(member: Member, present: PresentClient): Promise<void> {
    member.isPresent = true
    await this.#hub.bus.enter(member.key, present).catch((error: unknown) => this.#failed(member.name, error))
  }

  async #exit(member: Member): Promise<void> {
    if (!member.isPresent) return
    member.isPresent = false
    await this.#hub.bus
      .exit(member.key, member.joined.client.id)
      .catch((error: unknown) => this.#failed(member.name, error))
  }

  // — events of the bus —

  entry(key: string, entry: Entry): void {
    this.#rooms.get(key)?.entry(entry)
  }

  present(key: string, id: string, present: PresentClient | undefined): void {
    this.#rooms.get(key)?.noticed(id, present)
  }

  resumed(): void {
    for (const room of this.#rooms.values()) {
      room.isStale = true
      if (room.last !== '') void this.#catchUp(room)
    }
  }

  /** Reads missed messages, as often as necessary; only one reading at a time, because two would pass on the same messages. */
  async #catchUp(room: Room): Promise<void> {
    room.isStale = true
    if (room.isCatchingUp) return
    room.isCatchingUp = true
    for (let wait = pause.first; room.isStale && this.#isUsed(room); ) {
      room.isStale = false
      room.hold()
      try {
        await this.#readMissed(room)
        this.#isFailing = false
      } catch (error) {
        room.isStale = true
        // Logged once while Redis is down, not for each channel.
        if (!this.#isFailing) this.#failed(room.name, error)
        this.#isFailing = true
        await new Promise<void>((resolve) => void systemClock.setTimeout(resolve, wait * (0.5 + Math.random())).unref())
        wait = Math.min(wait * 2, pause.longest)
      }
    }
    room.isCatchingUp = false
  }

  async #readMissed(room: Room): Promise<void> {
    const replay = await this.#hub.bus.after(room.key, room.last, 'own')
    if (room.knowsPresent) await room.list(() => this.#hub.bus.present(room.key))
    if (!this.#isUsed(room)) return
    if (!replay.isComplete) {
      this.#hub.counts.gaps++
      this.#hub.log.warn({ channel: room.name, after: room.last }, `messages of the channel "${room.name}" are missing`)
      // They may include an order to remove a client, which would also apply to a client for which `join` is still deciding.
      room.removedAt = clock.monotonic()
      const members = [...room.members]
      for (let i = 0; i < members.length; i += askedAtOnce)
        await Promise.all(members.slice(i, i + askedAtOnce).map((member) => this.#hub.askAgain(member)))
    }
    room.caughtUp(replay)
  }

  #isUsed(room: Room): boolean {
    return this.#rooms.get(room.key) === room && !this.#isClosed
  }

  #failed(name: string, error: unknown): void {
    if (!this.#isClosed) this.#hub.log.warn({ err: error, channel: name }, `the store of the channel "${name}" failed`)
  }
}
