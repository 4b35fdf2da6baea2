import { type Logger, Trace, type TraceOutcome } from '../../kernel/index.ts'
import {
  type Bus,
  type BusEvents,
  type Entry,
  type Keeping,
  type Present,
  partsOf,
  type Replay,
} from './buses/contract.ts'
import type { Channel, ChannelClient } from './channel.ts'
import {
  ChannelPublishRefusedError,
  ChannelRefusedError,
  ChannelsNotRunningError,
  ChannelUnavailableError,
  NotJoinedError,
  TooManyChannelsError,
} from './errors.ts'
import { noticeFrame, shown } from './frames.ts'
import type { JoinedClient } from './joined.ts'
import { type Member, Room } from './room.ts'
import { allows } from './rule.ts'
import { clientOf, type JoinableSocket } from './socket-client.ts'

/** A client in a channel, for the code that has let it in. */
export interface Membership {
  leave(): void
}

/** What others see of a client: its id, its user, and what the option `presence` has said of it. */
export interface PresentClient {
  readonly id: string
  readonly user?: string | undefined
  readonly data: unknown
}

export interface HubSettings {
  readonly maxChannelsPerClient: number
  readonly timeout: number
}

/** What is counted of the channels of a server. */
export interface ChannelCounts {
  /** Channels in which someone of this instance is, and the clients in them, once for each channel. */
  channels: number
  members: number
  published: number
  refused: number
  /** How often messages were missing that could not be read again. */
  gaps: number
}

/** A message on its way to the clients in a channel, or an order to remove some. */
export interface ChannelPublishTrace extends TraceOutcome {
  readonly channel: string
  readonly kind: Entry['kind']
}

const publishTrace = new Trace<ChannelPublishTrace>('channel.publish')

/** How long before what a store has refused is asked for again. */
const retryMs = 500

/** The channels of one server: who of its clients is where. */
export class Hub implements BusEvents {
  readonly server: object
  readonly counts: ChannelCounts = { channels: 0, members: 0, published: 0, refused: 0, gaps: 0 }
  readonly #bus: Bus
  readonly #settings: HubSettings
  readonly #log: Logger
  readonly #rooms = new Map<string, Room>()
  #isClosed = false

  constructor(server: object, bus: Bus, settings: HubSettings, log: Logger) {
    this.server = server
    this.#bus = bus
    this.#settings = settings
    this.#log = log
  }

  get key(): string {
    return this.#bus.key
  }

  open(): Promise<void> {
    return this.#bus.open(this)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const left = [...this.#rooms.values()].flatMap((room) => [...room.members])
    await Promise.all(left.map((member) => this.#exit(member)))
    await this.#bus.close()
  }

  // — what the code of the server asks —

  async send(name: string, entry: Omit<Entry, 'id'>, keeping: Keeping): Promise<string> {
    this.counts.published++
    return publishTrace.run(
      () => ({ channel: name, kind: entry.kind }),
      () => this.#reach(name, () => this.#bus.publish(name, entry, keeping)),
    )
  }

  async presentIn(name: string): Promise<readonly PresentClient[]> {
    return (await this.#reach(name, () => this.#bus.present(name))).map(shown)
  }

  async joinSocket(channel: Channel, name: string, socket: JoinableSocket): Promise<Membership> {
    const joined = clientOf(socket, this)
    await this.join(joined, channel, name)
    return { leave: () => this.leave(joined, name) }
  }

  // — what clients ask —

  /**
   * Lets a client in, after `after` if given; the notice `joined` reaches it before everything else of the channel. Nothing happens where it
   * is in already.
   *
   * @throws (as a rejection) ChannelRefusedError, TooManyChannelsError, ChannelUnavailableError.
   */
  async join(joined: JoinedClient, channel: Channel, name: string, after?: string, ref?: unknown): Promise<void> {
    const { maxChannelsPerClient } = this.#settings
    if (joined.members.has(name)) {
      joined.send(name, noticeFrame('joined', { channel: name, ref }))
      return
    }
    if (joined.members.size >= maxChannelsPerClient) throw TooManyChannelsError(maxChannelsPerClient)
    const params = channel.pattern.match(name)!
    const member: Member = {
      joined,
      name,
      channel,
      params,
      user: undefined,
      waiting: [],
      isPresent: false,
    }
    // Before it is asked about: a flood of joins must not pass the limit while `join` waits for a database.
    joined.members.set(name, member)
    try {
      await this.#admit(member, after, ref)
    } catch (error) {
      this.#drop(member)
      throw error
    }
  }

  async #admit(member: Member, after: string | undefined, ref: unknown): Promise<void> {
    const { joined, channel, name, params } = member
    const client = joined.client as ChannelClient<never>
    const { user, presence } = channel.rules
    if (!(await this.#allows(name, 'join', () => channel.rules.join(client, params)))) {
      this.counts.refused++
      throw ChannelRefusedError(name)
    }
    Object.assign(member, { user: user === undefined ? undefined : this.#userOf(name, () => user(client)) })
    // Not after it has left, or was removed: nothing would take it out again.
    if (!this.#isIn(member)) return
    const room = await this.#enter(member)
    const replay: Replay =
      after === undefined
        ? { entries: [], isComplete: true, last: room.last }
        : await this.#reach(name, () => this.#bus.after(name, after))
    const present = presence === undefined ? undefined : await this.#present(room)
    if (!this.#isIn(member)) return
    if (!replay.isComplete) this.counts.gaps++
    joined.send(
      name,
      noticeFrame('joined', {
        channel: name,
        ref,
        // Before what has arrived since: a client that is cut off in between asks for it again.
        id: after === undefined ? startOf(member, room) : undefined,
        present: present?.map(shown),
      }),
    )
    room.admit(member, replay, after)
    if (presence === undefined || !this.#isIn(member)) return
    member.isPresent = true
    await this.#bus.enter(name, this.#presentOf(member)).catch((error: unknown) => this.#failed(name, error))
    // It may have left while that was on its way.
    if (!this.#isIn(member)) await this.#exit(member)
  }

  #presentOf({ joined: { client }, channel, params, user }: Member): Present {
    const data = channel.rules.presence?.(client as ChannelClient<never>, params) ?? null
    return user === undefined ? { id: client.id, data } : { id: client.id, user, data }
  }

  #userOf(name: string, ask: () => unknown): string | undefined {
    const user = ask()
    if (user === undefined || (typeof user === 'string' && user !== '')) return user
    this.#log.error({ channel: name }, `the option user of the channel "${name}" has returned what is not a text`)
    throw ChannelRefusedError(name)
  }

  #allows(name: string, rule: string, ask: () => unknown): Promise<boolean> {
    return allows({ name, rule, timeout: this.#settings.timeout, log: this.#log }, ask)
  }

  leave(joined: JoinedClient, name: string): void {
    const member = joined.members.get(name)
    if (member !== undefined) this.#drop(member)
  }

  /** The client has gone. */
  leaveAll(joined: JoinedClient): void {
    for (const member of [...joined.members.values()]) this.#drop(member)
  }

  /** @throws (as a rejection) NotJoinedError, ChannelPublishRefusedError, ChannelPayloadError, ChannelUnavailableError. */
  async publishOf(joined: JoinedClient, name: string, payload: unknown): Promise<string> {
    const member = joined.members.get(name)
    if (member === undefined || member.waiting !== undefined) throw NotJoinedError(name)
    const { channel, params } = member
    const { publish } = channel.rules
    const body = publish === undefined ? undefined : await channel.bodyOf(name, payload, 'body')
    const client = joined.client as ChannelClient<never>
    const mayPublish =
      body !== undefined && (await this.#allows(name, 'publish', () => publish!(client, params, JSON.parse(body))))
    if (!mayPublish) {
      this.counts.refused++
      throw ChannelPublishRefusedError(name)
    }
    // Removed while it was asked about.
    if (!this.#isIn(member)) throw NotJoinedError(name)
    return this.send(name, { body, kind: 'message', except: client.id }, channel.keeping)
  }

  // — rooms —

  /** Whether a member has neither left nor lost its connection. */
  #isIn(member: Member): boolean {
    return member.joined.isOpen && member.joined.members.get(member.name) === member && !this.#isClosed
  }

  async #enter(member: Member): Promise<Room> {
    const { name } = member
    let room = this.#rooms.get(name)
    if (room === undefined) {
      room = new Room(
        name,
        (one) => void this.#catchUp(one),
        (one) => this.#removed(one),
      )
      this.#rooms.set(name, room)
      this.counts.channels++
    }
    room.members.add(member)
    this.counts.members++
    room.opening ??= this.#openRoom(room)
    await this.#reach(name, () => room.opening!)
    return room
  }

  async #openRoom(room: Room): Promise<void> {
    await this.#bus.subscribe(room.name)
    // After it: what is published between the two is held.
    const { last } = await this.#bus.after(room.name)
    room.release(last)
  }

  async #present(room: Room): Promise<readonly Present[]> {
    if (!room.knowsPresent) room.listed(await this.#reach(room.name, () => this.#bus.present(room.name)))
    return room.present
  }

  #drop(member: Member): void {
    const { joined, name } = member
    if (joined.members.get(name) === member) joined.members.delete(name)
    const room = this.#rooms.get(name)
    if (room?.members.delete(member) !== true) return
    this.counts.members--
    void this.#exit(member)
    if (room.members.size > 0) return
    this.#rooms.delete(name)
    this.counts.channels--
    this.#bus.unsubscribe(name).catch((error: unknown) => this.#failed(name, error))
  }

  async #exit(member: Member): Promise<void> {
    if (!member.isPresent) return
    member.isPresent = false
    await this.#bus
      .exit(member.name, member.joined.client.id)
      .catch((error: unknown) => this.#failed(member.name, error))
  }

  #removed(member: Member): void {
    this.#drop(member)
    member.joined.send(member.name, noticeFrame('left', { channel: member.name, reason: 'removed' }))
    member.joined.dropped(member.name)
  }

  // — what the bus reports —

  entry(name: string, entry: Entry): void {
    this.#rooms.get(name)?.entry(entry)
  }

  present(name: string, id: string, present: Present | undefined): void {
    this.#rooms.get(name)?.noticed(id, present)
  }

  resumed(): void {
    for (const room of this.#rooms.values()) {
      if (room.last === '') continue
      room.hold()
      void this.#catchUp(room)
    }
  }

  /** Reads what was missed, as often as it takes. */
  async #catchUp(room: Room): Promise<void> {
    while (this.#rooms.get(room.name) === room && !this.#isClosed) {
      try {
        const replay = await this.#bus.after(room.name, room.last)
        const list = room.knowsPresent ? await this.#bus.present(room.name) : undefined
        if (this.#rooms.get(room.name) !== room) return
        if (!replay.isComplete) {
          this.counts.gaps++
          this.#log.warn({ channel: room.name, after: room.last }, `messages of the channel "${room.name}" are missing`)
          // An order to remove someone may be among them.
          await Promise.all([...room.members].map((member) => this.#askAgain(member)))
        }
        room.caughtUp(replay)
        if (list !== undefined) room.listed(list)
        return
      } catch (error) {
        this.#failed(room.name, error)
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref())
      }
    }
  }

  async #askAgain(member: Member): Promise<void> {
    const { channel, joined, params, name } = member
    const stays = await this.#allows(name, 'join', () =>
      channel.rules.join(joined.client as ChannelClient<never>, params),
    )
    if (!stays && this.#isIn(member)) this.#removed(member)
  }

  async #reach<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw ChannelsNotRunningError(`the channel "${name}"`)
    try {
      return await call()
    } catch (error) {
      throw Object.assign(ChannelUnavailableError(name), { cause: error })
    }
  }

  #failed(name: string, error: unknown): void {
    if (!this.#isClosed) this.#log.warn({ err: error, channel: name }, `the store of the channel "${name}" has failed`)
  }
}

/** The place in the messages of a channel from which on a new member receives them. */
function startOf({ waiting }: Member, room: Room): string {
  const first = waiting?.[0]
  if (first === undefined) return room.last
  const { epoch, number } = partsOf(first.id)!
  return `${epoch}-${number - 1}`
}
