import { randomUUID } from 'node:crypto'
import { clock, type Logger, Trace, type TraceOutcome } from '../../kernel/index.ts'
import { jsonText } from '../shared/values/json-text.ts'
import { safely } from '../shared/values/safely.ts'
import { nameInTenant } from '../shared/values/tenants.ts'
import { Mounts } from '../shared/work/mounts.ts'
import {
  type Bus,
  type BusEvents,
  type Entry,
  emptyReplay,
  type Keeping,
  type PresentClient,
  type Replay,
} from './buses/contract.ts'
import type { ChannelClient, DeclaredChannel } from './declared.ts'
import {
  ChannelPayloadError,
  ChannelPublishRefusedError,
  ChannelRefusedError,
  ChannelRouteError,
  ChannelsNotRunningError,
  ChannelUnavailableError,
  InvalidPayloadError,
  NotJoinedError,
  TooManyChannelsError,
} from './errors.ts'
import { noticeFrame } from './frames.ts'
import type { ChannelsSettings } from './options.ts'
import { type JoinedClient, type Member, startOf } from './room.ts'
import { type ChannelCounts, Rooms } from './rooms.ts'
import { type Rules, rulesOf } from './rule.ts'
import { clientOf, type JoinableSocket } from './socket-client.ts'

/** The servers with channels, each with the hubs of its scopes, the oldest first; none until it has booted. */
export const servers = new Mounts<Set<Hub>>('Say which: channel.for(server)')

/** A client's place in a channel, for the code that has let the client in. */
export interface Membership {
  /** Removes the client from the channel; a second call does nothing. */
  leave(): void
}

/** A client's request to join. */
interface JoinRequest {
  /** The id of the last message that the client has received. */
  readonly after?: string | undefined
  /** The author of the messages that it has published before. */
  readonly author?: string | undefined
  readonly ref?: unknown
}

type HubSettings = Pick<ChannelsSettings, 'maxChannelsPerClient' | 'timeout'>

/** A message being published to the clients in a channel, or an order to remove some of them. */
export interface ChannelPublishTrace extends TraceOutcome {
  /** The server whose work it is; `undefined` in a script. */
  readonly server: object | undefined
  /** The name of the channel: `orders/7`. */
  readonly channel: string
  /** Whether a message is being published or clients are being removed. */
  readonly kind: Entry['kind']
  /** The payload as JSON; empty where clients are being removed. */
  readonly body: string
}

const publishTrace = new Trace<ChannelPublishTrace>('channel.publish')

/** The channels of one server, and which of its clients are in them. */
export class Hub {
  readonly server: object
  /** The websockets of the plugin's scope. */
  readonly sockets: { has(socket: JoinableSocket): boolean }
  readonly counts: ChannelCounts = { channels: 0, members: 0, published: 0, refused: 0, gaps: 0 }
  readonly bus: Bus
  readonly #settings: HubSettings
  readonly #rules: Rules
  readonly #rooms: Rooms
  /** The channels that clients can join. */
  readonly #channels = new Set<DeclaredChannel>()
  /** The calls of `onLeave` that are in progress. */
  readonly #telling = new Set<Promise<unknown>>()
  #isClosed = false

  constructor({ server, sockets }: Pick<Hub, 'server' | 'sockets'>, bus: Bus, settings: HubSettings, log: Logger) {
    this.server = server
    this.sockets = sockets
    this.bus = bus
    this.#settings = settings
    this.#rules = rulesOf(settings.timeout, log, server)
    const removed = (member: Member) => this.#removed(member)
    const askAgain = (member: Member) => this.#askAgain(member)
    const userOf = (member: Member) => safely(() => this.#userOf(member))
    this.#rooms = new Rooms({ bus, counts: this.counts, log, askAgain, removed, userOf })
  }

  open(among: (events: BusEvents) => BusEvents = (events) => events): Promise<void> {
    return this.bus.open(among(this.#rooms))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#telling)
    await this.#rooms.close()
    await this.bus.close()
  }

  /**
   * Allows clients to ask to join this channel from now on.
   *
   * @throws ChannelRouteError when a name would belong to two channels: a client of one would receive the messages of the other.
   */
  know(channel: DeclaredChannel): void {
    if (this.#channels.has(channel)) return
    const other = [...this.#channels].find(({ pattern }) => pattern.overlaps(channel.pattern))
    if (other !== undefined)
      throw ChannelRouteError(
        `the channels "${other.name}" and "${channel.name}" match the same names, and each decides who may join. Use the same channel in all routes, or change the first part of one name`,
      )
    for (const mode of ['body', 'exact'] as const) channel.check(mode)
    this.#channels.add(channel)
  }

  /** Whether a name of this channel belongs to another channel of this hub: two scopes of a server may each have their own. */
  isTaken(channel: DeclaredChannel, name: string): boolean {
    if (this.#channels.has(channel)) return false
    return [...this.#channels].some(({ pattern }) => pattern.match(name) !== undefined)
  }

  // — requests of the server's code —

  /** `key` is the name of the channel as its tenant has it. */
  async send(name: string, entry: Omit<Entry, 'id'>, keeping: Keeping, key = name): Promise<string> {
    this.counts.published++
    return publishTrace.run(
      () => ({ server: this.server, channel: name, kind: entry.kind, body: entry.body }),
      () => this.#reach(name, () => this.bus.publish(key, entry, keeping)),
    )
  }

  presentIn(name: string, key: string): Promise<readonly PresentClient[]> {
    return this.#reach(name, () => this.bus.present(key))
  }

  async joinSocket(channel: DeclaredChannel, name: string, socket: JoinableSocket): Promise<Membership> {
    this.know(channel)
    const joined = clientOf(socket, this)
    await this.join(joined, channel, name)
    const member = joined.members.get(name)
    // The client was removed, or has gone, while `join` was deciding.
    if (member === undefined) throw ChannelRefusedError(name)
    return { leave: () => this.#drop(member) }
  }

  // — requests of clients —

  /**
   * Lets a client in, with the messages since the id `after`, if given. The notice `joined` reaches the client before anything else of the
   * channel. A client that is already in only receives that notice.
   *
   * @throws (as a rejection) ChannelRefusedError, TooManyChannelsError, ChannelUnavailableError.
   */
  async join(joined: JoinedClient, channel: DeclaredChannel, name: string, request: JoinRequest = {}): Promise<void> {
    const before = joined.members.get(name)
    if (before !== undefined) {
      // `join` may still be deciding: its result applies here, too.
      if (before.channel !== channel || (await before.admission) !== true) throw ChannelRefusedError(name)
      joined.send(name, noticeFrame('joined', { channel: name, ref: request.ref }))
      return
    }
    const { maxChannelsPerClient } = this.#settings
    if (joined.members.size >= maxChannelsPerClient) throw TooManyChannelsError(maxChannelsPerClient)
    const member: Member = {
      joined,
      name,
      key: nameInTenant(name, joined.tenant),
      channel,
      params: channel.pattern.match(name)!,
      user: undefined,
      author: mayPublish(channel, joined) ? (request.author ?? randomUUID()) : undefined,
      admission: undefined,
      waiting: [],
      reached: undefined,
      isPresent: false,
    }
    // Before `join` is called: a flood of joins must not exceed the limit while `join` waits for a database.
    joined.members.set(name, member)
    try {
      member.admission = this.#admit(member, request)
      await member.admission
    } catch (error) {
      this.#drop(member)
      throw error
    }
  }

  async #admit(member: Member, { after, ref }: JoinRequest): Promise<boolean> {
    const { joined, name, key, author } = member
    const asked = clock.monotonic()
    if (!(await this.#mayJoin(member))) this.#refuse(name)
    const user = this.#userOf(member)
    Object.assign(member, { user })
    const { presence, state: isStated } = member.channel.rules
    // Before the client is in: data that cannot be serialised would be a problem for all members.
    const own = presence && { id: joined.client.id, user, data: await this.#said(member, 'presence') }
    // A client that has left or was removed must not enter the room: nothing would ever take it out again.
    if (!this.#isIn(member)) return false
    const room = await this.#reach(name, () => this.#rooms.enter(member))
    // A removal while `join` was deciding did not reach this client, which was not in the room: the decision may rest on outdated data.
    if (room.removedAt >= asked && !(await this.#mayJoin(member))) this.#refuse(name)
    const replay: Replay =
      after === undefined ? emptyReplay(room.last) : await this.#reach(name, () => this.bus.after(key, after))
    const present = own === undefined ? undefined : await this.#reach(name, () => this.#rooms.presentIn(room))
    const isNew = after === undefined || !replay.isComplete
    const state = isStated !== undefined && isNew ? await this.#said(member, 'state') : undefined
    if (!this.#isIn(member)) return false
    if (!replay.isComplete) this.counts.gaps++
    joined.send(
      name,
      noticeFrame('joined', {
        channel: name,
        ref,
        author,
        // An id before the messages that have arrived since: a client that is disconnected in between requests them again.
        id: after === undefined ? startOf(member, room) : replay.isComplete ? after : undefined,
        present: present && withOwn(present, own!),
        state,
      }),
    )
    room.admit(member, replay, after)
    if (own !== undefined && this.#isIn(member)) await this.#rooms.show(member, own)
    return this.#isIn(member)
  }

  #refuse(name: string): never {
    this.counts.refused++
    throw ChannelRefusedError(name)
  }

  /** The result of a function of the options, about a client; the client is refused if it fails. */
  async #said(member: Member, option: 'presence' | 'state'): Promise<unknown> {
    const { name } = member
    const data: unknown = await this.#rules.call(member, option, (given) =>
      JSON.parse(jsonText(given ?? null, (why) => ChannelPayloadError(name, why))),
    )
    return data === undefined ? this.#refuse(name) : data
  }

  #userOf({ channel, joined, name }: Member): string | undefined {
    try {
      const user: unknown = channel.rules.user?.(joined.client as ChannelClient<never>)
      if (user === undefined || (typeof user === 'string' && user !== '')) return user
      throw new TypeError('it did not return a string')
    } catch (error) {
      this.#rules.failed(name, 'user', error)
      return this.#refuse(name)
    }
  }

  #mayJoin(member: Member): Promise<boolean> {
    return this.#rules.allow(member, 'join').catch((refusal: unknown) => {
      this.counts.refused++
      throw refusal
    })
  }

  async #askAgain(member: Member): Promise<void> {
    const stays = await this.#mayJoin(member).catch(() => false)
    if (!stays && this.#isIn(member)) this.#removed(member)
  }

  leave(joined: JoinedClient, name: string): void {
    const member = joined.members.get(name)
    if (member !== undefined) this.#drop(member)
  }

  /** Takes a client that has gone out of all its channels. */
  leaveAll(joined: JoinedClient): void {
    for (const member of [...joined.members.values()]) this.#drop(member)
  }

  /** @throws (as a rejection) NotJoinedError, ChannelPublishRefusedError, ChannelPayloadError, ChannelUnavailableError. */
  async publishOf(joined: JoinedClient, name: string, payload: unknown): Promise<string> {
    const member = joined.members.get(name)
    if (member === undefined || member.waiting !== undefined) throw NotJoinedError(name)
    const { channel, key } = member
    const { publish } = channel.rules
    const body = publish === undefined ? undefined : await channel.bodyOf(payload, 'body', InvalidPayloadError)
    if (body === undefined || !(await this.#rules.allow(member, 'publish', JSON.parse(body)))) {
      this.counts.refused++
      throw ChannelPublishRefusedError(name, publish !== undefined)
    }
    // The client was removed while `publish` was deciding.
    if (!this.#isIn(member)) throw NotJoinedError(name)
    return this.send(name, { body, kind: 'message', author: member.author! }, channel.keeping, key)
  }

  /** Whether a member has not left. */
  #isIn(member: Member): boolean {
    return member.joined.isHere && member.joined.members.get(member.name) === member && !this.#isClosed
  }

  #drop(member: Member): void {
    const { joined, name } = member
    const wasIn = joined.members.get(name) === member && joined.members.delete(name) && member.waiting === undefined
    this.#rooms.leave(member)
    if (!wasIn || member.channel.rules.onLeave === undefined) return
    const told = this.#rules.call(member, 'onLeave', () => {})
    this.#telling.add(told)
    void told.then(() => this.#telling.delete(told))
  }

  #removed(member: Member): void {
    this.#drop(member)
    member.joined.send(member.name, noticeFrame('left', { channel: member.name, reason: 'removed' }))
    member.joined.dropped?.()
  }

  async #reach<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw ChannelsNotRunningError(`the channel "${name}"`)
    try {
      return await call()
    } catch (error) {
      throw Object.assign(ChannelUnavailableError(), { cause: error, channel: name })
    }
  }
}

/** Adds the client for which the list is meant, since it is about to be in the channel. */
const withOwn = (all: readonly PresentClient[], own: PresentClient) => [...all.filter(({ id }) => id !== own.id), own]

/** Whether a client may publish: never through a stream of events. */
const mayPublish = ({ rules }: DeclaredChannel, { client }: JoinedClient) =>
  rules.publish !== undefined && client.transport === 'websocket'
