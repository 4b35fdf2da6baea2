import { OptionError, quoted } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import { type Check, isSchema, type Mode, passed, usableCheckOf } from '../shared/schema/check.ts'
import type { InputOf } from '../shared/schema/from-schema.ts'
import { defined } from '../shared/values/json.ts'
import { jsonText } from '../shared/values/json-text.ts'
import { nameInTenant } from '../shared/values/tenants.ts'
import { whenCommitted } from '../shared/work/transactions.ts'
import type { Keeping, PresentClient, Recipient } from './buses/contract.ts'
import type { ChannelOptions, ChannelParams } from './declared.ts'
import { ChannelNameError, ChannelPayloadError, ChannelSchemaError, ChannelsNotRunningError } from './errors.ts'
import { type Hub, type Membership, servers } from './hub.ts'
import { ChannelPattern, type NameValues } from './name.ts'
import type { JoinableSocket } from './socket-client.ts'

type ValuesOf<Name extends string> = string extends Name
  ? NameValues
  : { readonly [Param in keyof ChannelParams<Name>]: string | number }

/** The recipients of a message: all clients in the channel, with these restrictions. */
export interface ChannelPublishOptions {
  /** The only recipient: one `user`, on all devices; or one `client`, by its id. */
  to?: { readonly user: string } | { readonly client: string }
  /** The id of a client that does not receive the message, usually the sender. */
  except?: string
}

/** The clients to remove from a channel: all of one `user`, or one `client` by its id. */
export type ChannelRemoval = { readonly user: string } | { readonly client: string }

type Addressed<Name extends string, Rest extends readonly unknown[]> = string extends Name
  ? [values: NameValues, ...Rest] | Rest
  : {} extends ValuesOf<Name>
    ? Rest
    : [values: ValuesOf<Name>, ...Rest]

const fn = option.fn()
const channelOptions = option.shape({
  join: option
    .fn('a function (client, params) => boolean that decides whether a client may join; () => true admits every client')
    .required(),
  publish: fn,
  user: fn,
  presence: fn,
  state: fn,
  onLeave: fn,
  message: option.value<object>('a schema', isSchema),
  history: option
    .either(
      option.off(),
      option.shape({
        messages: option.int({ min: 0, max: 10_000 }).default(100),
        bytes: option.size().default('1mb'),
        ms: option.ms({ min: 1000 }).default(300_000),
      }),
    )
    .default({}),
})
const recipient = option.shape({ user: option.name(), client: option.name() }).into((given, place) => {
  const { user, client } = given
  if ((user === undefined) === (client === undefined)) place.wrong(given, '{ user } or { client }, a string each')
  return defined({ user, client }) as Recipient
})
// A message to an `undefined` user, one that was not found, must not reach all clients.
const publishOptions = option.shape({ to: recipient.optional().guard(), except: option.name().guard() })

/** A channel with any name and messages, for the option of a route. */
export interface AnyChannel {
  /** The name, or the pattern of names: `orders/:id`. */
  readonly name: string
  readonly '~payload': unknown
}

/** A channel in one server: what {@link Channel.for} returns. */
export type ServerChannel<Name extends string = string, Payload = unknown> = Pick<
  Channel<Name, Payload>,
  'publish' | 'remove' | 'present'
>

/**
 * Publishes messages of one kind to all clients that have joined. Created by {@link channel}.
 *
 * A call means the channel in the server whose hook, request or job is running, else in the only server of the process with channels.
 *
 * @example
 * const orders = channel('orders/:id', { join: () => true })
 * await orders.publish({ id: 7 }, { state: 'shipped' })
 */
export class Channel<Name extends string = string, Payload = unknown> {
  declare readonly '~payload': Payload
  /** The name as declared: `orders/:id`. */
  readonly name: string
  /** @internal */
  readonly pattern: ChannelPattern
  /** @internal */
  readonly rules: ChannelOptions<string, unknown>
  /** @internal */
  readonly keeping: Keeping
  /** @internal The schema of the channel's messages. */
  readonly schema: object | undefined

  /** @internal */
  constructor(name: string, given: unknown) {
    this.pattern = new ChannelPattern(name)
    this.name = name
    const { history, message, ...rules } = channelOptions.parse(given as never, `channel(${JSON.stringify(name)})`)
    this.rules = rules as never
    this.keeping = history === false ? { messages: 0, bytes: 0, ms: 1000 } : history
    this.schema = message
  }

  /**
   * Returns this channel in one server, for code that no request, job or hook of the server runs, in a process with several servers.
   *
   * @throws ChannelsNotRunningError if the server has no channels.
   * @example
   * const news = channel<string>('news', { join: () => true })
   * const server = new Server({ plugins: { websocket: true, channels: true } })
   * await server.ready()
   * await news.for(server).publish('hello')
   */
  for(server: object): ServerChannel<Name, Payload> {
    if (servers.of(server) === undefined) throw ChannelsNotRunningError(`the channel "${this.name}"`)
    return {
      publish: async (...given) => this.#publish(given, server),
      remove: async (...given) => this.#remove(given, server),
      present: async (...given) => this.#present(given, server),
    }
  }

  /**
   * Publishes a message to all clients in the channel, on all instances. Resolves with the message's `id` once the store has it.
   *
   * @throws (as a rejection) ChannelNameError, ChannelPayloadError, ChannelUnavailableError, ChannelsNotRunningError, WorkServerError.
   * @example
   * const orders = channel('orders/:id', { join: () => true })
   * await orders.publish({ id: 7 }, { state: 'shipped' })
   */
  async publish(
    ...given: Addressed<Name, [payload: Payload, options?: ChannelPublishOptions]>
  ): Promise<{ id: string }> {
    return this.#publish(given)
  }

  async #publish(given: readonly unknown[], of?: object): Promise<{ id: string }> {
    const [name, payload, options] = this.#addressed(given, 'publish')
    const { to, except } = publishOptions.parse((options ?? {}) as never, 'publish')
    this.#mustKnow(to, 'publish.to')
    const body = await this.bodyOf(payload, 'exact', (why) => ChannelPayloadError(name, why))
    const key = nameInTenant(name)
    const send = () => this.#send({ name, key }, { body, kind: 'message', ...defined({ to, except }) }, of)
    return { id: await whenCommitted(`the message to the channel "${name}"`, send, '') }
  }

  /**
   * Removes clients from the channel, on all instances. They may try to join again, and `join` then decides: so first change the
   * data on which it bases its decision.
   *
   * @example
   * const orders = channel('orders/:id', { join: () => true, user: ({ data }: ChannelClient<{ user: string }>) => data.user })
   * await orders.remove({ id: 7 }, { user: 'ann' })
   */
  async remove(...given: Addressed<Name, [who: ChannelRemoval]>): Promise<void> {
    await this.#remove(given)
  }

  async #remove(given: readonly unknown[], of?: object): Promise<void> {
    const [name, who] = this.#addressed(given, 'remove')
    if (who === undefined) throw OptionError('remove', who, '{ user } or { client }, a string each')
    const to = recipient.parse(who as never, 'remove')
    this.#mustKnow(to, 'remove')
    await this.#send({ name, key: nameInTenant(name) }, { body: '', kind: 'remove', to }, of)
  }

  #mustKnow(to: Recipient | undefined, what: string): void {
    if (to?.user !== undefined && this.rules.user === undefined)
      throw OptionError(
        what,
        quoted(to),
        `{ client }, since the channel "${this.name}" knows no users. Set its option user, which names the user of a client`,
      )
  }

  /**
   * Lets a websocket join on behalf of the server's code. The same rules apply as for a client that asks to join.
   *
   * @throws (as a rejection) ChannelRefusedError, TooManyChannelsError, ChannelUnavailableError, ChannelsNotRunningError.
   */
  async join(socket: JoinableSocket, ...given: Addressed<Name, []>): Promise<Membership> {
    const [name] = this.#addressed(given, 'join')
    if (typeof socket?.server !== 'object')
      throw OptionError(
        'join',
        socket === undefined ? undefined : quoted(socket),
        'the socket that the handler receives as first argument: join(socket, values)',
      )
    const all = [...(servers.of(socket.server) ?? [])]
    // If several scopes have channels, that of the scope that accepted the socket.
    const hub = all.find((one) => one.sockets.has(socket)) ?? all[0]
    if (hub === undefined) throw ChannelsNotRunningError(`joining the channel "${name}"`)
    return hub.joinSocket(this as Channel, name, socket)
  }

  /**
   * Returns the clients in the channel, on all instances, with the data from `presence`.
   *
   * @throws (as a rejection) ChannelNameError, ChannelUnavailableError, ChannelsNotRunningError, WorkServerError.
   */
  async present(...given: Addressed<Name, []>): Promise<readonly PresentClient[]> {
    return this.#present(given)
  }

  async #present(given: readonly unknown[], of?: object): Promise<readonly PresentClient[]> {
    const [name] = this.#addressed(given, 'present')
    if (this.rules.presence === undefined)
      throw ChannelNameError(
        this.name,
        'it does not list its clients. Set the option presence, which decides what others see of a client',
      )
    return (await this.#ask(name, 'asking who is in', (hub) => hub.presentIn(name, nameInTenant(name)), of)).flat()
  }

  #addressed(given: readonly unknown[], what: string): [name: string, ...rest: unknown[]] {
    const hasParams = this.pattern.params.length > 0
    const most = { publish: 2, remove: 1, join: 0, present: 0 }[what]!
    // For a channel without parameters, the first argument is the message.
    if (!hasParams && given.length > most && what !== 'publish')
      throw ChannelNameError(this.name, `it has no parameters, so ${what}() takes no values`)
    const [values, ...rest] = hasParams ? given : [{}, ...given]
    if (hasParams && (typeof values !== 'object' || values === null))
      throw ChannelNameError(this.name, `${what}() needs the values of ${this.pattern.params.join(', ')} first`)
    return [this.pattern.nameOf(values as NameValues), ...rest]
  }

  /** @internal The payload as JSON; a client's payload as the schema returns it. */
  async bodyOf(payload: unknown, mode: Mode, fail: (why: string) => Error): Promise<string> {
    if (this.schema === undefined) return jsonText(payload, fail)
    const checked = await passed(this.check(mode)(payload), fail)
    return jsonText(mode === 'exact' ? payload : checked, fail)
  }

  /** @internal The check of the channel's messages; without a schema, all are valid. @throws ChannelSchemaError */
  check(mode: Mode): Check {
    if (this.schema === undefined) return (value) => ({ ok: true, value })
    return usableCheckOf(this.schema, mode, (why) => ChannelSchemaError(this.name, why))
  }

  async #send(
    { name, key }: { readonly name: string; readonly key: string },
    entry: Parameters<Hub['send']>[1],
    of: object | undefined,
  ): Promise<string> {
    const [first] = await this.#ask(name, 'publishing to', (hub) => hub.send(name, entry, this.keeping, key), of)
    return first!
  }

  /** Asks one hub of each bus of a server, among those in which no other channel has the name. */
  async #ask<Result>(
    name: string,
    what: string,
    ask: (hub: Hub) => Promise<Result>,
    of: object | undefined,
  ): Promise<Result[]> {
    const byBus = new Map<string, Hub>()
    const call = `${what} the channel "${name}"`
    for (const hub of (of ? servers.open(of, call) : servers.current(call)) ?? [])
      if (!byBus.has(hub.bus.key)) byBus.set(hub.bus.key, hub)
    if (byBus.size === 0) throw ChannelsNotRunningError(call)
    const own = [...byBus.values()].filter((hub) => !hub.isTaken(this as Channel, name))
    if (own.length === 0)
      throw ChannelNameError(
        this.name,
        `the routes of the server have a different channel with the name "${name}". Use that one`,
      )
    return Promise.all(own.map(ask))
  }
}

/**
 * Declares a channel, whose messages reach every client that has joined, on all instances.
 *
 * The name may have parameters: `orders/:id` is a channel for each order. `join` decides which clients may join; only `true` lets one in.
 * Clients join over a websocket or a stream of server-sent events, on a route with the option `channels`.
 *
 * @throws ChannelNameError, OptionError.
 * @example
 * const orders = channel('orders/:id', {
 *   join: (client: ChannelClient<{ user: string }>, { id }) => id.startsWith(client.data.user),
 *   message: { type: 'object', properties: { state: { type: 'string' } }, required: ['state'] } as const,
 * })
 * router.ws('/live', { channels: [orders] }, { data: (req) => ({ user: String(req.query.user) }) })
 * await orders.publish({ id: 'ann-7' }, { state: 'shipped' })
 */
export function channel<const Name extends string, const Schema extends object, Data = unknown>(
  name: Name,
  options: ChannelOptions<Name, InputOf<Schema>, Data> & { readonly message: Schema },
): Channel<Name, InputOf<Schema>>
export function channel<const Name extends string, Data = unknown>(
  name: Name,
  options: ChannelOptions<Name, unknown, Data>,
): Channel<Name, unknown>
export function channel<Payload>(name: string, options: ChannelOptions<string, Payload>): Channel<string, Payload>
export function channel(name: string, options: unknown): unknown {
  return new Channel(name, options)
}
